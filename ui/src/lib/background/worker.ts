// Runs in a worker: what a hostile schema could make endless, a pattern for example, must not stop the page.

import { validate } from "../schema/validate.ts";
import type { Begun, Done, Job } from "./background.ts";

addEventListener("message", ({ data: { id, schema, value } }: MessageEvent<Job>) => {
  postMessage({ id, state: "begun" } satisfies Begun);
  void validate(schema, value).then((issues) => postMessage({ id, state: "done", issues } satisfies Done));
});
