// Loaded into a hub whose memory is measured: at SIGUSR2 it collects garbage. Worker threads have their own heaps and get no
// signals, so they are notified by message.

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
  // A message listener keeps the thread alive; unref it again.
  threads.unref();
}
