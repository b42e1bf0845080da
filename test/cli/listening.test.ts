/** Where a command listens: a port, an address or both. */
import { assert, it } from "@effect/vitest"
import { listeningOf } from "../../src/command/flags.ts"

it.each([
  ["8787", { host: undefined, port: 8787 }],
  ["0", { host: undefined, port: 0 }],
  ["0.0.0.0", { host: "0.0.0.0", port: undefined }],
  ["localhost:65535", { host: "localhost", port: 65_535 }],
  ["[::1]", { host: "::1", port: undefined }],
  ["[fe80::1]:80", { host: "fe80::1", port: 80 }]
])("%s", (text, expected) => assert.deepStrictEqual(listeningOf(text), expected))

it.each(["", ":", "65536", "localhost:65536", "localhost:http", "::1", "a b", "http://localhost:80", "-1"])(
  "%j is none",
  (text) => assert.isUndefined(listeningOf(text))
)
