// The checks of the installation, and repairs.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

const check = z.object({
  id: describe(z.string(), "For POST /doctor/fix"),
  section: z.enum(["machine", "hub", "config", "servers", "clients", "files"]),
  name: describe(z.string(), "What is checked: a program, a server, a client"),
  status: z.enum(["ok", "warning", "problem"]),
  message: z.string(),
  fix: describe(z.nullable(z.string()), "A command, or advice; one per line"),
  fixable: describe(z.boolean(), "POST /doctor/fix repairs it"),
});
export type DoctorCheck = z.infer<typeof check>;

export const doctorReport = component(
  "DoctorReport",
  z.object({
    checks: z.array(check),
    fixed: describe(z.optional(z.array(z.string())), "After POST /doctor/fix: what was repaired"),
    failed: describe(z.optional(z.array(z.string())), "After POST /doctor/fix: what could not be repaired, and why"),
  }),
);
export type DoctorReport = z.infer<typeof doctorReport>;

export const fixInput = z.strictObject({ checks: z.array(z.string()).check(z.minLength(1), z.maxLength(1000)) });
