#!/usr/bin/env node
// A committed launcher, so that the bin link exists and is executable before the first build.
import "../bundle/main.js";
