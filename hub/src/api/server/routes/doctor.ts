// Checks of the installation.

import { doctorReport, fixInput } from "../../schemas/doctor.ts";
import type { DoctorCommands } from "../commands/doctor.ts";
import { routesOf, type Route } from "../route.ts";

const { get, post } = routesOf("hub");

export function doctorRoutes(doctor: DoctorCommands): Route[] {
  return [
    get("/doctor", "examine", "Check the installation, the config, the servers and the files", {
      answer: doctorReport,
      run: ({ url }) => doctor.report(new URL(url).origin),
    }),
    post("/doctor/fix", "repair", "Repair some of what GET /doctor reports as fixable", {
      body: fixInput,
      answer: doctorReport,
      run: ({ body, url }) => doctor.fix(body.checks, new URL(url).origin),
    }),
  ];
}
