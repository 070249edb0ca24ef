// The time, for what counts seconds. One timer for all, and none while the page is hidden or no one looks.

import { createSubscriber } from "svelte/reactivity";

class Clock {
  readonly #subscribe = createSubscriber((update) => {
    const tick = () => {
      if (document.visibilityState === "visible") update();
    };
    const timer = setInterval(tick, 1000);
    document.addEventListener("visibilitychange", tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", tick);
    };
  });

  /** Reading it in a component makes the component follow the time, in steps of a second. */
  get now(): number {
    this.#subscribe();
    return Date.now();
  }
}

export const clock = new Clock();
