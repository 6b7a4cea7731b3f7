#ifndef PARLANCE_SRC_CHAT_WRITERS_H_
#define PARLANCE_SRC_CHAT_WRITERS_H_

// The writers of the three APIs; see parlance/chat.h.

#include <memory>

#include "chat/blocks.h"

namespace parlance::chat {

// `conversation` must outlive the writer.
std::unique_ptr<BlockWriter> completions_writer(
    const Conversation& conversation);
std::unique_ptr<BlockWriter> responses_writer(const Conversation& conversation);
std::unique_ptr<BlockWriter> messages_writer(const Conversation& conversation);

}  // namespace parlance::chat

#endif  // PARLANCE_SRC_CHAT_WRITERS_H_
