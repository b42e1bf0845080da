/**
 * The proxies through which the requests of this process leave, as the usual variables name them; undici decides which request
 * takes which one. A proxy belongs to the machine, so settings have none.
 */
import { decoded } from "../values/text.ts"

interface Proxy {
  readonly variable: string
  /** Addresses have a scheme here, which other programs do without. */
  readonly url: string
}

const schemes = ["http", "https"] as const

const proxyOf = (scheme: (typeof schemes)[number]): Proxy | undefined => {
  const [lower, upper] = [`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`]
  const variable = process.env[lower] === undefined ? upper : lower
  const value = process.env[variable]
  if (!value) return undefined
  return { variable, url: /^[a-z\d]+:\/\//i.test(value) ? value : `http://${value}` }
}

const proxies = (): ReadonlyArray<Proxy> => schemes.flatMap((scheme) => proxyOf(scheme) ?? [])

export const isAnyProxy = (): boolean => proxies().length > 0

const isUsable = ({ url }: Proxy): boolean => URL.canParse(url) && /^(https?|socks5?):$/.test(new URL(url).protocol)

/** The variables that name no proxy. */
export const wrongProxies = (): ReadonlyArray<string> =>
  proxies().flatMap((proxy) => (isUsable(proxy) ? [] : [proxy.variable]))

/**
 * Options of undici's agent, which reads NO_PROXY itself. HTTP/2 puts all requests on one connection, so that one loss fails
 * each of them; the rate limit leaves nothing to gain by it (docs/architecture.md).
 */
export const agentOptions = () => ({
  allowH2: false,
  ...Object.fromEntries(
    schemes.flatMap((scheme) => {
      const proxy = proxyOf(scheme)
      // Without an option, the agent would read the variable itself.
      return proxy ? [[`${scheme}Proxy`, isUsable(proxy) ? proxy.url : ""]] : []
    })
  )
})

/** From now on `fetch` takes the proxies, too. Without any, nothing is loaded. */
export const fetchThroughProxies = async (): Promise<void> => {
  if (!isAnyProxy() || isFetchSet) return
  isFetchSet = true
  const { EnvHttpProxyAgent, setGlobalDispatcher } = await import("undici")
  setGlobalDispatcher(new EnvHttpProxyAgent(agentOptions()))
}
let isFetchSet = false

const exceptions = (): string => process.env["no_proxy"] ?? process.env["NO_PROXY"] ?? ""

/** Sends requests to a service inside this process past the proxies. */
export const exceptFromProxies = (address: string): void => {
  process.env["no_proxy"] = [exceptions(), new URL(address).hostname].filter(Boolean).join(",")
}

/** The proxy for programs that are given one, as DuckDB is. */
export const chosenProxy = (address: string): { readonly variable: string; readonly url: URL } | undefined => {
  const { hostname, protocol } = new URL(address)
  const proxy = (protocol === "https:" ? proxyOf("https") : undefined) ?? proxyOf("http")
  if (proxy === undefined || !isUsable(proxy) || isException(hostname)) return undefined
  return { variable: proxy.variable, url: new URL(proxy.url) }
}

/** The proxy of requests to an address, without its credentials; `undefined`: they leave directly. */
export const proxyFor = (address: string): string | undefined => {
  const { url, variable } = chosenProxy(address) ?? {}
  return url && `${url.protocol}//${url.host} (${variable})`
}

const isException = (host: string): boolean =>
  exceptions()
    .split(/[\s,]/)
    .map((entry) =>
      entry
        .replace(/(?<!:[^\]]*):\d+$/, "")
        .replace(/^\*?\./, "")
        .replaceAll(/^\[|\]$/g, "")
        .toLowerCase()
    )
    .some(
      (name) => name !== "" && (name === "*" || name === host.replaceAll(/^\[|\]$/g, "") || host.endsWith(`.${name}`))
    )

/** What messages say after a reason. */
export const throughProxy = (address: string): string => {
  const proxy = proxyFor(address)
  return proxy === undefined ? "" : `, through the proxy ${proxy}`
}

/** The credentials in the addresses of proxies, in each of their forms. */
export const proxySecrets = (): ReadonlyArray<string> =>
  proxies().flatMap(({ url }) => {
    const [credentials, user, password] = /(?<=\/\/)([^@]*?)(?::(.*))?(?=@)/.exec(url) ?? []
    return [credentials, password || user].flatMap((one) => (one ? [one, decoded(one)] : []))
  })
