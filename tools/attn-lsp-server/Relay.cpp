//===- Relay.cpp - Adds the pages of ops to another server's hovers ---===//
//
// Part of Attune, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Relay.h"

#include "OpPages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/LSP/Transport.h"

using namespace llvm;
using namespace attune::lsp;

/// Calls `visit` with each message; it may change the text.
static void forEachMessage(std::FILE *from, std::FILE *to, function_ref<void(std::string &)> visit) {
  llvm::lsp::JSONTransportInputOverFile input(from);
  while (!input.isEndOfInput() && !input.hasError()) {
    std::string text;
    if (failed(input.readMessage(text)))
      continue;
    visit(text);
    std::fprintf(to, "Content-Length: %zu\r\n\r\n", text.size());
    std::fwrite(text.data(), 1, text.size(), to);
    std::fflush(to);
  }
}

/// The op's name at a place. The protocol counts UTF-16 units.
static StringRef nameAt(StringRef text, int64_t line, int64_t character) {
  for (; line > 0 && !text.empty(); --line)
    text = text.split('\n').second;
  text = text.split('\n').first;
  auto isContinuation = [](char byte) { return (byte & 0xC0) == 0x80; };
  size_t at = 0;
  for (; at < text.size() && character > 0; ++at)
    if (!isContinuation(text[at]))
      character -= static_cast<unsigned char>(text[at]) >= 0xF0 ? 2 : 1;
  auto isNamed = [](char byte) { return isAlnum(byte) || byte == '_' || byte == '.'; };
  while (at > 0 && isNamed(text[at - 1]))
    --at;
  return text.drop_front(at).take_while(isNamed);
}

static std::string keyOf(const json::Value &id) { return formatv("{0}", id).str(); }

void Relay::seeHover(const json::Object &message, const json::Object &params) {
  const json::Object *document = params.getObject("textDocument"), *position = params.getObject("position");
  const json::Value *id = message.get("id");
  if (!document || !position || !id)
    return;
  auto text = texts.find(document->getString("uri").value_or(""));
  if (text == texts.end())
    return;
  StringRef name =
      nameAt(text->second, position->getInteger("line").value_or(0), position->getInteger("character").value_or(0));
  if (StringRef page = pageOf(name); !page.empty()) {
    std::lock_guard<std::mutex> lock(askedMutex);
    asked[keyOf(*id)] = page;
  }
}

void Relay::see(const json::Object &message) {
  StringRef method = message.getString("method").value_or("");
  const json::Object *params = message.getObject("params");
  const json::Object *document = params ? params->getObject("textDocument") : nullptr;
  if (!document)
    return;
  StringRef address = document->getString("uri").value_or("");
  if (method == "textDocument/didOpen")
    texts[address] = document->getString("text").value_or("").str();
  else if (method == "textDocument/didClose")
    texts.erase(address);
  else if (method == "textDocument/hover")
    seeHover(message, *params);
  const json::Array *changes = method == "textDocument/didChange" ? params->getArray("contentChanges") : nullptr;
  for (const json::Value &change : changes ? *changes : json::Array()) {
    llvm::lsp::TextDocumentContentChangeEvent event;
    json::Path::Root root;
    if (llvm::lsp::fromJSON(change, event, root))
      (void)event.applyTo(texts[address]);
  }
}

bool Relay::complete(json::Object &message) {
  const json::Value *id = message.get("id");
  const json::Value *result = message.get("result");
  if (!id || !result)
    return false;
  StringRef page;
  {
    std::lock_guard<std::mutex> lock(askedMutex);
    auto found = asked.find(keyOf(*id));
    if (found == asked.end())
      return false;
    page = found->second;
    asked.erase(found);
  }
  const json::Object *hover = result->getAsObject(), *contents = hover ? hover->getObject("contents") : nullptr;
  json::Object completed = hover ? *hover : json::Object();
  std::string text = page.str();
  if (contents)
    text += "\n\n---\n\n" + contents->getString("value").value_or("").str();
  completed["contents"] = json::Object{{"kind", "markdown"}, {"value", text}};
  message["result"] = std::move(completed);
  return true;
}

void Relay::passToServer(std::FILE *editor, std::FILE *server) {
  forEachMessage(editor, server, [&](std::string &text) {
    Expected<json::Value> message = json::parse(text);
    if (!message)
      return consumeError(message.takeError());
    if (const json::Object *object = message->getAsObject())
      see(*object);
  });
}

void Relay::passToEditor(std::FILE *server, std::FILE *editor) {
  forEachMessage(server, editor, [&](std::string &text) {
    Expected<json::Value> message = json::parse(text);
    if (!message)
      return consumeError(message.takeError());
    json::Object *object = message->getAsObject();
    if (object && !object->get("method") && complete(*object))
      text = formatv("{0}", *message).str();
  });
}
