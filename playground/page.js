// What the parts of the page have in common.

export const byId = (id) => document.getElementById(id);

// An action that runs once nothing has asked for it for some time.  Each has its
// own timer, so that to wait for one action does not cancel another.
export class Delayed {
  constructor(action) {
    this.action = action;
    this.timer = null;
  }

  start(ms = 250) {
    this.cancel();
    this.timer = setTimeout(this.action, ms);
  }

  cancel() {
    clearTimeout(this.timer);
  }
}
