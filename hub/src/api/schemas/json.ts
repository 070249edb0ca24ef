// Any JSON object, for what a server or another client may say.

import { z } from "@hono/zod-openapi";

export const json = z.record(z.string(), z.unknown());
