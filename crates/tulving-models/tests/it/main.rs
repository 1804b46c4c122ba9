//! The embedders: the built-in model itself, and the others against small folders and servers made here.

// The built-in model against what the original answers.
mod minilm;

// A folder with an ONNX model.
mod folder;

// Services that embed.
mod http;
