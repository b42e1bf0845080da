/** The site of the console: its addresses beside those of the explorer, and how a visitor is let in. */
import { stat } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { join } from "node:path"
import { assetPaths, pageHtml } from "../explore/assets.ts"
import { type DocumentsOptions, sendDocument } from "../explore/documents.ts"
import { HttpError, bounded, sendFile } from "../explore/http.ts"
import { type TablesOptions, tablesOf } from "../explore/server.ts"
import { type Api, type Call, type Visit, sendPage, sendText, serveSite } from "../explore/web-server.ts"
import { writePrivately } from "../../settings/new-file.ts"
import { documentOf, html } from "../../pages/html.ts"
import { baseStyle } from "../../pages/page-style.ts"
import { type Access, type Session, hashOf, passwordLengthMin } from "./access.ts"
import type { Console } from "./console.ts"

export interface SiteOptions extends DocumentsOptions {
  readonly console: Console
  readonly access: Access
  readonly tables: TablesOptions
  readonly host: string
  readonly port: number
  /** The file of the password that the page stores; undefined if none is needed. */
  readonly passwordFile: string | undefined
}

export const startSite = async (options: SiteOptions) => {
  const { access, console, host, passwordFile, port } = options
  const tables = tablesOf(options.tables)
  let needsPassword = passwordFile !== undefined

  const admit = async ({ request, response, url: { pathname, searchParams } }: Visit): Promise<Session | undefined> => {
    const { method } = request
    if (method === "GET" && pathname === "/healthz") {
      const isHealthy = console.isHealthy()
      sendText(response, isHealthy ? 200 : 503, isHealthy ? "ok" : "not ok")
      return undefined
    }
    access.checkOrigin(request)
    const enter = (session: Session) =>
      void response.writeHead(303, { location: "/", "set-cookie": access.cookieOf(request, session) }).end()
    if (method === "GET" && pathname === "/" && searchParams.has("token")) {
      const session = access.openByLink(searchParams.get("token"))
      if (session === undefined) sendText(response, 401, "This link was used already, or belongs to an earlier server.")
      else enter(session)
      return undefined
    }
    if (method === "POST" && pathname === "/login") {
      try {
        enter(await access.openByPassword(request, await passwordIn(request)))
      } catch (cause) {
        if (!(cause instanceof HttpError)) throw cause
        response.statusCode = cause.status
        await sendPage(response, async (nonce) => loginHtml(nonce, cause.message), "'self'")
      }
      return undefined
    }
    const session = access.sessionOf(request)
    if (session) return session
    if (method !== "GET" || !(pathname === "/" || pathname === "/login"))
      throw new HttpError(401, "token", "The session has ended: open the page again.")
    if (access.hasPassword()) await sendPage(response, async (nonce) => loginHtml(nonce, ""), "'self'")
    else sendText(response, 401, "Open the link that ./sluice serve printed: it has the token of this session.")
    return undefined
  }

  const logout = async ({ response, who }: Call<Session>) => {
    access.close(who)
    response.writeHead(303, { location: "/login" }).end()
  }
  const setPassword = async ({ body, who }: Call<Session>) => {
    const { password } = body
    if (who.role !== "owner" || passwordFile === undefined || !needsPassword)
      throw new HttpError(403, "reader", "The password is set where the setting console.password says.")
    if (typeof password !== "string" || password.length < passwordLengthMin)
      throw new HttpError(400, "password", `A password has ${passwordLengthMin} characters or more.`)
    await writePrivately(passwordFile, `${await hashOf(password)}\n`)
    needsPassword = false
    return {}
  }
  const state = console.api.get("GET /api/console")!
  const api: Api<Session> = new Map([
    ...(tables.api as Api<Session>),
    ...console.api,
    ["GET /api/console", async (call: Call<Session>) => ({ ...((await state(call)) as object), needsPassword })],
    ["POST /logout", logout],
    ["POST /api/password", setPassword]
  ])
  /** Until there is a password, the page does nothing but ask for it. */
  const guarded: Api<Session> = new Map(
    Array.from(api, ([route, handler]) => [
      route,
      async (call: Call<Session>) => {
        if (needsPassword && !["GET /api/console", "POST /api/password", "POST /logout"].includes(route))
          throw new HttpError(403, "password", "Set a password first.")
        return handler(call)
      }
    ])
  )

  const others = async (visit: Visit, signal: AbortSignal): Promise<boolean> => {
    const {
      response,
      url: { pathname }
    } = visit
    if (needsPassword) return false
    if (await sendDocument(visit, options)) return true
    const [, name] = /^\/exports\/([\w][\w .%-]{0,200})$/.exec(pathname) ?? []
    if (name === undefined) return tables.stored(visit, signal)
    const path = join(console.exports, decodeURIComponent(name).replaceAll(/[/\\]/g, ""))
    if (!(await stat(path).catch(() => undefined))?.isFile()) return false
    response.setHeader("content-disposition", `attachment; filename="${encodeURIComponent(decodeURIComponent(name))}"`)
    await sendFile(response, path)
    return true
  }
  const site = {
    admit,
    page: (nonce: string, { role }: Session) => pageHtml(nonce, role),
    assets: assetPaths(true),
    api: guarded,
    others
  }
  const server = await serveSite(site, host, port)
  return {
    port: server.port,
    close: async () => {
      const closing = console.close()
      await Promise.all([server.close(), tables.close(), closing])
    }
  }
}

/** Of a form; nothing larger than one is read. */
const passwordIn = async (request: IncomingMessage): Promise<string> =>
  new URLSearchParams((await bounded(request, 10_000)).toString()).get("password") ?? ""

const loginStyle = `${baseStyle}
body{display:grid;place-items:center;min-height:100vh}
form{display:grid;gap:.75rem;width:min(20rem,90vw)}
h1{font-size:1.25rem;margin:0}
p{margin:0;color:var(--bad)}`

/** Works without a script. */
const loginHtml = (nonce: string, problem: string): string =>
  documentOf(
    "sluice",
    loginStyle,
    html`<main>
      <form method="post" action="/login">
        <h1>sluice</h1>
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required autofocus />
        <button>Open</button>
        ${problem === "" ? undefined : html`<p role="alert">${problem}</p>`}
      </form>
    </main>`
  ).replace("<style>", `<style nonce="${nonce}">`)
