/** Requests to the service, and to buckets, are sent in one place each: budget, retries and tokens are there alone. */
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** What sends a request: a call of `fetch`, or a library that does. Types send nothing. */
const sends =
  /(?<![\w.#])fetch\(|client\.fetch\(|globalThis\.fetch|^import (?!type)[^;]*?from "(?:undici|(?:node:)?https?2?|axios|got|aws4fetch|effect\/http\/[^"]*)"|import\("(?:undici|(?:node:)?https?2?)"\)/m
/** A server of our own takes these two from `node:http`, and sends nothing. */
const isServer = (text: string): boolean => /import \{[^}]*\bcreateServer\b[^}]*\} from "node:http"/.test(text)

/** What a server of the framework is made of, which sends nothing either. */
const ofServers =
  /^import [^;]*? from "effect\/http\/Http(?:IncomingMessage|Platform|Router|ServerRequest|ServerResponse)"$/gm

it("is a place of its own for requests to the service, to a bucket, to who is told, and to a sandbox that sluice started", () => {
  const senders = globSync("src/**/*.ts", { cwd: root })
    .filter((path) => {
      const text = readFileSync(`${root}/${path}`, "utf8").replaceAll(/import type [^;]*?from "[^"]+"/g, "")
      const values = text.replaceAll(ofServers, "").replaceAll(/import \{(?: type \w+,?)+ \} from "[^"]+"/g, "")
      return sends.test(values) && !isServer(values)
    })
    .toSorted()
  assert.deepStrictEqual(senders, [
    "src/cli/demo.ts",
    "src/features/fleet/commands/demo-fleet.ts",
    "src/features/operations/signals/http.ts",
    // It says which proxy requests go through.
    "src/network/proxy.ts",
    "src/stages/api/exchange.ts",
    "src/stages/api/links.ts",
    "src/stores/objects/bucket.ts"
  ])
})

it.each(["src/cli/demo.ts", "src/features/fleet/commands/demo-fleet.ts"])("%s asks its own sandbox alone", (path) => {
  const addresses = readFileSync(`${root}/${path}`, "utf8").matchAll(/fetch\(\s*`([^`]*)`/g)
  assert.match(Array.from(addresses, ([, address]) => address).join(" "), /^\$\{[\w.]+\}\/__sandbox\/\w+$/)
})
