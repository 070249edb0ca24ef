// Any JSON object, for data of servers and other clients.

import * as z from "zod/mini";

export const json = z.record(z.string(), z.unknown());
