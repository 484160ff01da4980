#!/usr/bin/env node
import { begin } from "../dist/launch.js";

await begin("hotl-rt");
