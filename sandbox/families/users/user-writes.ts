import { HttpError, conflict, invalid, malformed } from "../../http/errors.ts"
import type { Answer, Call, Route } from "../../http/route.ts"
import type { Service } from "../../service.ts"
import { type Shape, choice, email, flag, list, object, phone, record, required, text } from "../../http/shape.ts"
import { type Data, entry } from "../../account/collection.ts"
import { defaultPermissions, languages } from "./seeded-users.ts"
import { dropNulls, find } from "../records.ts"

const shape: Shape = {
  companyId: text,
  firstName: text,
  lastName: text,
  // Sending it on update is deprecated and changes nothing (A 4.5).
  email,
  password: text,
  type: choice("account"),
  role: choice("admin", "user"),
  locationIds: list(text),
  phone,
  permissions: object(Object.fromEntries(Object.keys(defaultPermissions).map((name) => [name, flag]))),
  scopes: list(text),
  scopesAssignedToOnly: list(text),
  profilePhoto: { type: "string", format: "uri" },
  lcPhone: object(),
  platformLanguage: choice(...languages)
}

const createShape: Shape = {
  ...shape,
  ...Object.fromEntries(
    ["companyId", "firstName", "lastName", "email", "password", "type", "role"].map((name) => [
      name,
      required(shape[name]!)
    ])
  ),
  locationIds: required(list(text, 1))
}

/** Creating, changing and deleting users (A 4.5). */
export const userWriteRoutes: ReadonlyArray<Route> = [
  {
    method: "POST",
    path: "/users/",
    scope: "users.write",
    summary: "Create a user",
    body: createShape,
    status: 201,
    returns: record("User"),
    errors: [409],
    handle: (call, service) => create(call, service)
  },
  {
    method: "PUT",
    path: "/users/:userId",
    scope: "users.write",
    summary: "Update a user",
    body: shape,
    returns: record("User"),
    handle: (call, service) => update(call, service)
  },
  {
    method: "DELETE",
    path: "/users/:userId",
    scope: "users.write",
    summary: "Queue a user for deletion",
    returns: { succeeded: flag, message: text },
    handle: ({ params }, { clock, schedule, world: { users } }) => {
      const id = find(users, params["userId"], "User").id!
      schedule.at(clock.now() + deletionMs, () => {
        const user = users.get(id)
        if (user !== undefined) users.remove(user)
      })
      return { succeeded: true, message: "The user will be deleted in a few minutes" }
    }
  }
]

/** "A few minutes" (A 4.5). */
const deletionMs = 180_000

const create = ({ body }: Call, service: Service): Answer => {
  const { clock, random, world } = service
  check(body, service)
  const taken = [...world.users.live()].some((row) => world.users.data(row)["email"] === body["email"])
  if (taken) throw conflict(`A user with the email ${String(body["email"])} exists already`)
  const id = random.id()
  const { locationIds, permissions, role, type } = body
  const source = dropNulls({
    id,
    ...stored(body),
    email: body["email"],
    name: `${String(body["firstName"])} ${String(body["lastName"])}`,
    permissions: { ...defaultPermissions, ...known(permissions) },
    scopes: body["scopes"] ?? [],
    scopesAssignedToOnly: body["scopesAssignedToOnly"] ?? [],
    roles: { type, role, locationIds, restrictSubAccount: false },
    deleted: false
  })
  return world.users.full(world.users.add(entry({ id, created: clock.now(), source })))
}

const update = ({ body, params }: Call, service: Service): Answer => {
  const { users } = service.world
  const old = find(users, params["userId"], "User")
  check(body, service)
  const data = users.data(old)
  const roles = Object.fromEntries(
    ["type", "role", "locationIds"].flatMap((name) => (body[name] ? [[name, body[name]]] : []))
  )
  const source = dropNulls({
    ...data,
    ...stored(body),
    roles: { ...(data["roles"] as Data), ...roles },
    permissions: { ...(data["permissions"] as Data), ...known(body["permissions"]) }
  })
  if (body["firstName"] !== undefined || body["lastName"] !== undefined) {
    source["name"] = [source["firstName"], source["lastName"]].filter(Boolean).join(" ")
  }
  return users.full(users.replace(old, entry({ ...old, updated: service.clock.now(), source })))
}

/** The fields that are stored under the name with which they are sent; the password is not stored. */
const stored = (body: Data): Data =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([name]) => !["companyId", "email", "password", "type", "role", "locationIds", "permissions"].includes(name)
    )
  )

/** The existing switches (A 2.7); others are ignored like any unknown member. */
const known = (sent: unknown): Data =>
  Object.fromEntries(
    Object.entries((sent ?? {}) as Data).filter(([name, value]) => name in defaultPermissions && value !== null)
  )

const check = (body: Data, { world }: Service): void => {
  const { companyId, locationIds, password } = body as Data & { locationIds?: ReadonlyArray<string> }
  if ((companyId ?? world.context.companyId) !== world.context.companyId) {
    throw new HttpError(403, "The token does not have access to this company")
  }
  if (locationIds?.some((id) => id !== world.context.locationId)) {
    throw new HttpError(403, "The token does not have access to this location")
  }
  const classes = [/[A-Z]/, /[a-z]/, /\d/, /[^A-Za-z0-9]/]
  if (typeof password === "string" && (password.length < 12 || !classes.every((kind) => kind.test(password)))) {
    throw invalid(
      "password must have at least 12 characters with one uppercase letter, one lowercase letter, one number and one " +
        "special character"
    )
  }
  for (const [id, number] of Object.entries((body["lcPhone"] ?? {}) as Data)) {
    if (typeof number !== "string") throw malformed(`lcPhone.${id} must be a string`)
    if (!/^\+\d{5,15}$/.test(number)) throw invalid(`lcPhone.${id} must have a country code`)
  }
}
