// Node.js before 24 cannot read this.
import { Parser } from 'parlance';

export let freed;
{
  using parser = new Parser('qwen3');
  freed = parser;
}
