import { openEnum, map, boolean, id, object, enumeration, text, values, changed, created } from "#catalog/fields.ts"
import { email, personName, phone, ref } from "#catalog/fields.ts"
import { company, cursorOr, get, location, size } from "#catalog/request.ts"
import { byOffset, defineList } from "#catalog/resource.ts"

const scope = text("Name of the scope")

export const users = defineList({
  table: "users",
  description: "People who work in the account.",
  source: "A 2.7, A 4.5 GET /users/search, GET /users/{userId}",
  scope: "users.readonly",
  full: [
    byOffset(get("/users/search", { companyId: company, locationId: location, skip: cursorOr(0), limit: size }), {
      records: "users",
      pageSize: 100,
      total: "count"
    })
  ],
  // The list has neither permissions nor scopes, and its change timestamp is not documented, so each user is read daily.
  getOne: { request: get("/users/{userId}"), record: "" },
  detail: {
    refreshAfter: "20 hours",
    fields: {
      permissions: map(
        "user_permissions",
        "What each user may do: one row per switch.",
        { name: "permission", field: text("Name of the switch") },
        { value: boolean("Whether it is on", { column: "enabled" }) }
      ),
      scopes: values("user_scopes", "API scopes of each user.", "scope", scope, {
        key: ["scope", "assigned_only"],
        constants: { assigned_only: false }
      }),
      scopesAssignedToOnly: values("user_scopes", "API scopes of each user.", "scope", scope, {
        key: ["scope", "assigned_only"],
        constants: { assigned_only: true }
      }),
      lcPhone: map(
        "user_phones",
        "Inbound phone number of each user in each location.",
        { name: "phone_location_id", field: ref("locations", "Location the number serves") },
        { value: phone("Number, E.164", { column: "phone" }) }
      )
    }
  },
  tombstone: "deleted",
  fields: {
    id: id("User id; `assigned_to` and `user_id` elsewhere"),
    name: personName("Full name"),
    firstName: personName("First name"),
    lastName: personName("Last name"),
    email: email("Address the user signs in with"),
    phone: phone("Phone, E.164"),
    extension: text("Phone extension", { personal: "direct" }),
    roles: object({
      type: openEnum("Kind of user: `account` for one of this location"),
      role: enumeration(["admin", "user"]),
      locationIds: values(
        "user_locations",
        "Locations each user can enter.",
        "member_location_id",
        ref("locations", "Location the user can enter")
      ),
      restrictSubAccount: boolean("The user is kept to the locations listed")
    }),
    platformLanguage: enumeration(
      "en_US es fr_CA fr_FR nl de pt_PT pt_BR it sv da fi no".split(" "),
      "Language of the user interface"
    ),
    dateAdded: created("When the user was added"),
    dateUpdated: changed("Last change"),
    totpEnabled: boolean("Signs in with a second factor"),
    profilePhoto: text("Picture, as a link", { role: "file", personal: "direct" }),
    deleted: boolean("The user was removed")
  }
})
