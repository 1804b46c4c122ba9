//! The embedders: the built-in model itself, and the others against small folders and servers made here; and language
//! models, against such servers too.

// The built-in model against the answers of the original.
mod minilm;

// A folder with an ONNX model.
mod folder;

// Services that embed.
mod http;

// Services that are language models, including those that misbehave.
mod llm;

// The server that plays these services.
mod server;
