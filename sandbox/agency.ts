import { Clock } from "./account/clock.ts"
import { type Data, entry } from "./account/collection.ts"
import { createContext } from "./account/context.ts"
import { type Files, createFiles } from "./files/files.ts"
import { placeLinks } from "./files/places.ts"
import { createLocations } from "./families/locations/seeded-location.ts"
import { locationOfContent } from "./families/emails/content.ts"
import type { HttpRequest } from "./http/handler.ts"
import { privateTokenOf, refreshTokenOf } from "./http/tokens.ts"
import { type SandboxOptions, type Settings, settle } from "./options.ts"
import { type Service, createServiceOf } from "./service.ts"

/**
 * An agency and its locations: each has an account, credentials, limits and counts of its own, which are created when a
 * request needs them, so that thousands of locations cost little. With one location, there is no agency.
 */
export class Agency {
  readonly #settings: Settings
  readonly #clock: Clock
  readonly #made = new Map<number, Service>()
  readonly #numberById = new Map<string, number>()
  readonly #numberByToken = new Map<string, number>()
  readonly #credentials: Array<{ readonly token: string; readonly refreshToken: string }> = []
  readonly #agency: Service | undefined
  /** The host behind the links of all locations. */
  readonly files: Files | undefined
  #origin = ""

  constructor(options: SandboxOptions, clock?: Clock) {
    this.#settings = settle(options)
    this.#clock = clock ?? new Clock(this.#settings.now)
    this.files = createFiles(this.#settings, this.#clock)
    const { locations } = this.#settings
    if (locations === 1) return
    for (let number = 0; number < locations; number++) {
      const settings = this.#settingsOf(number)
      this.#numberById.set(createContext(settings).locationId, number)
      const [token, refreshToken] = [privateTokenOf(settings), refreshTokenOf(settings)]
      this.#credentials.push({ token, refreshToken })
      this.#numberByToken.set(token, number).set(refreshToken, number)
    }
    this.#agency = this.#createAgency()
  }

  /** The first location. */
  get first(): Service {
    return this.#serviceOf(0)
  }

  /** A token that lists the locations, and has access to none of them. */
  get token(): string | undefined {
    return this.#agency?.tokens.privateToken
  }

  setOrigin(origin: string): void {
    this.#origin = origin
    for (const service of this.#all()) service.origin = origin
    if (this.files !== undefined) this.files.apiOrigin = origin
  }

  close(): void {
    for (const service of this.#all()) service.deliveries.close()
  }

  /** The service that a request is for: that of its token or its link, or for a control request that of `?location=`. */
  serviceFor({ body, headers, target }: HttpRequest): Service {
    if (this.#agency === undefined) return this.first
    if (target.startsWith("/__sandbox/")) {
      const id = URL.parse(`http://sandbox${target}`)?.searchParams.get("location")
      return this.#serviceOf(this.#numberById.get(id ?? "") ?? 0)
    }
    const ofContent = this.#numberById.get(locationOfContent(target) ?? "")
    if (ofContent !== undefined) return this.#serviceOf(ofContent)
    const header = String(headers["authorization"] ?? "")
    const form = target === "/oauth/token" ? new URLSearchParams(body?.toString()) : undefined
    const token = form?.get("refresh_token") ?? header.replace(/^Bearer /i, "")
    if (token === this.token) return this.#agency
    const number = this.#numberByToken.get(token)
    if (number !== undefined) return this.#serviceOf(number)
    return this.#all().find(({ tokens }) => tokens.refreshToken === token || tokens.knows(header)) ?? this.first
  }

  /** Every location with its token and its first refresh token, and the requests of those that have received any. */
  locations = (): ReadonlyArray<Data> =>
    [...this.#numberById].map(([locationId, number]) => {
      const { fullestWindow = 0, refused429 = 0, requests = 0 } = this.#made.get(number)?.statistics ?? {}
      return { locationId, ...this.#credentials[number], requests, fullestWindow, refused429 }
    })

  #all(): ReadonlyArray<Service> {
    return [...this.#made.values(), ...(this.#agency === undefined ? [] : [this.#agency])]
  }

  #serviceOf(number: number): Service {
    const known = this.#made.get(number)
    if (known !== undefined) return known
    const service = createServiceOf(this.#settingsOf(number), this.#clock, this.locations, this.files)
    service.origin = this.#origin
    this.#made.set(number, service)
    return service
  }

  /** Locations with neighbouring seeds have nothing in common but their company. */
  #settingsOf(number: number): Settings {
    return { ...this.#settings, seed: this.#settings.seed + number, location: number }
  }

  /** A location without records that no token of a location reaches, whose search finds all locations. */
  #createAgency(): Service {
    const { limits, locations, now, variants, windowKind } = this.#settings
    const own = { ...settle({ contacts: 0, limits, now, variants, windowKind }), locations }
    const { seed } = this.#settingsOf(locations)
    const service = createServiceOf({ ...own, seed, location: locations }, this.#clock, undefined, this.files)
    const rows = [...this.#numberById.values()].flatMap((number) => {
      const context = createContext(this.#settingsOf(number))
      const locations = placeLinks("locations", createLocations(context), context)
      return [...locations.live()].map((row) => entry({ ...row, source: locations.data(row) }))
    })
    const all = createLocations(service.world.context)
    for (const row of all.live().toArray()) all.remove(row)
    for (const row of rows) all.add(row)
    Object.defineProperty(service.world, "locations", { value: all })
    return service
  }
}
