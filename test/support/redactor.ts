// The real redactor for tests of servers, whose own folder may not know it.

import { Redactor } from "../../hub/src/calls/redact.ts";

export const createRedactor = () => new Redactor();
