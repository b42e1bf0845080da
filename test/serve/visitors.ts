/** A console with a program of the shell in the place of sluice, and what visitors send to it. */
import { Effect, Exit, Scope } from "effect"
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { dirname, join } from "node:path"
import { allCommands } from "../../src/cli/commands.ts"
import { newAccess } from "../../src/features/serve/access.ts"
import { startConsole } from "../../src/features/serve/console.ts"
import { startSite } from "../../src/features/serve/site.ts"
import { newFolder } from "../support/sluice.ts"

interface Answer {
  readonly status: number
  readonly text: string
  readonly cookie: string | undefined
  readonly type: string | undefined
}

const opened: Array<{ readonly site: { readonly close: () => Promise<void> } }> = []
const status = `{"schema":"sluice/error/1","exitCode":1,"error":{"code":"failed","message":"Nothing was synced yet."}}`
/** A sync takes long, and all else is done at once. */
export const program = `case "$1" in status) echo '${status}' ;; sync) exec sleep 30 ;; *) echo '{"schema":"x","exitCode":0,"data":{}}' ;; esac`

/** Ends all that were opened. */
export const closeAll = async () => {
  for (const one of opened.splice(0)) await one.site.close()
}

/** `script`: of the shell, in the place of sluice. */
export const open = async (
  script: string,
  more: { readonly needsPassword?: boolean; readonly output?: string } = {}
) => {
  const output = more.output ?? newFolder()
  const path = join(newFolder(), "program")
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o700)
  const config = join(newFolder(), "config", "sluice.toml")
  const environment = { PATH: process.env["PATH"] }
  const scope = Scope.makeUnsafe()
  const started = startConsole({
    config,
    output,
    outputFlag: undefined,
    program: [path],
    flags: () => [],
    environment,
    commands: allCommands,
    onProblem: () => {}
  })
  const console = await Effect.runPromise(Scope.provide(started, scope))
  const passwordFile = join(dirname(config), "console-password")
  const stored = () => (existsSync(passwordFile) ? readFileSync(passwordFile, "utf8").trim() : undefined)
  const access = newAccess({
    passwords: () => ({ owner: stored() ?? "owner-password", reader: "reader-password" }),
    url: undefined,
    trustedProxies: [],
    isPublic: false
  })
  const published = join(output, "published")
  const serving = startSite({
    console,
    access,
    output,
    host: "127.0.0.1",
    port: 0,
    tables: { published, memoryMb: 512, queries: join(output, "queries"), links: async () => new Map() },
    passwordFile: more.needsPassword ? passwordFile : undefined,
    dictionary: async () => '<!doctype html><title>Dictionary</title><main class="x">'
  })
  const site = await Effect.runPromise(
    Scope.provide(
      Effect.tap(serving, () => console.begin),
      scope
    )
  )
  const address = `127.0.0.1:${site.port}`
  const send = (
    method: string,
    pathname: string,
    sent: { readonly cookie?: string; readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {}
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = {
        ...(method !== "GET" && { origin: `http://${address}` }),
        ...(sent.cookie !== undefined && { cookie: sent.cookie }),
        ...sent.headers
      }
      const outgoing = request({ host: "127.0.0.1", port: site.port, method, path: pathname, headers }, (incoming) => {
        const parts: Array<Buffer> = []
        incoming.on("data", (part: Buffer) => parts.push(part))
        incoming.once("end", () =>
          resolve({
            status: incoming.statusCode!,
            text: Buffer.concat(parts).toString(),
            cookie: incoming.headers["set-cookie"]?.[0]?.split(";")[0],
            type: incoming.headers["content-type"]
          })
        )
      })
      outgoing.once("error", reject)
      outgoing.end(sent.body)
    })
  const enter = async (password: string): Promise<string> => {
    const { cookie } = await send("POST", "/login", { body: new URLSearchParams({ password }).toString() })
    return cookie!
  }
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const one = { access, address, config, enter, output, passwordFile, send, site: { ...site, close } }
  opened.push(one)
  return one
}
