// Loaded into a hub whose memory is watched: at SIGUSR2 it collects its garbage, so that what is left is what it holds. Its
// threads have heaps of their own and hear no signals, so they are told.

import { BroadcastChannel, isMainThread } from "node:worker_threads";

const threads = new BroadcastChannel("collect garbage");
threads.unref();

if (isMainThread) {
  process.on("SIGUSR2", () => {
    globalThis.gc?.();
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- between threads there are no origins
    threads.postMessage("now");
  });
} else {
  threads.addEventListener("message", () => globalThis.gc?.());
  // Listening makes it count again.
  threads.unref();
}
