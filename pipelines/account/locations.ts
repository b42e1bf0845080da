import { boolean, id, json, object, ref, text, created, email, identifier, personName, phone } from "#catalog/fields.ts"
import { address, place, postalCode } from "#catalog/fields.ts"
import { get } from "#catalog/request.ts"
import { defineList, oneRecord } from "#catalog/resource.ts"

const where = {
  address: address("Street and number", { personal: "quasi" }),
  city: place("City"),
  state: text("State or region"),
  country: text("Country, ISO 3166-1 alpha-2"),
  postalCode: postalCode("Postal code"),
  website: text("Web site"),
  timezone: text("IANA time zone"),
  logoUrl: text("Logo, as a link", { role: "file", personal: "none" })
}

const getOne = { request: get("/locations/{locationId}"), record: "location" }

export const locations = defineList({
  table: "locations",
  description: "The account itself: one row per location.",
  source: "A 2.8, A 4.6 GET /locations/{locationId}",
  scope: "locations.readonly",
  full: [oneRecord(getOne)],
  getOne,
  fields: {
    id: id("Location id, the same as location_id"),
    companyId: identifier("Company that owns the location"),
    name: text("Name of the account"),
    firstName: personName("First name of the account's owner"),
    lastName: personName("Last name of the account's owner"),
    email: email("Address of the account"),
    phone: phone("Phone of the account, E.164"),
    ...where,
    business: object({ name: text("Name of the business"), ...where }),
    social: object(
      {
        googlePlacesId: identifier("Place id of the business-listing profile"),
        blogRss: text("Feed of the blog, as a link")
      },
      { whole: json("Links to the business's profiles, by network", { column: "social" }) }
    ),
    currency: text("Currency of the account's amounts, ISO 4217, where sent"),
    dateAdded: created("When the account was made"),
    domain: text("Domain of the account"),
    brandId: identifier("Brand that the account belongs to"),
    permissions: json("What the account may use, as sent"),
    settings: object({
      allowDuplicateContact: boolean("Two contacts may share email or phone"),
      allowDuplicateOpportunity: boolean("A contact may have two deals in one pipeline"),
      allowFacebookNameMerge: boolean("Contacts are merged by their name on the social network"),
      disableContactTimezone: boolean("Contacts have no time zone of their own"),
      contactUniqueIdentifiers: json("Fields that identify a contact, in order")
    }),
    locationId: ref("locations", "The same id, where the record shows it", { column: "location_id" })
  }
})
