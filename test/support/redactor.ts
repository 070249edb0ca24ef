// The real redactor for tests of servers, whose own folder may not know it.

import { Redactor } from "../../hub/src/redaction/redactor.ts";

export const createRedactor = () => new Redactor();
