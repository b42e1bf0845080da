import {
  address,
  boolean,
  changed,
  content,
  created,
  email,
  id,
  object,
  personName,
  phone,
  place,
  postalCode,
  ref
} from "#catalog/fields.ts"
import { altLocation, get } from "#catalog/request.ts"
import { defineList, oneRecord } from "#catalog/resource.ts"
import { altFields } from "#catalog/shapes.ts"

const notification = object({
  enabled: boolean("It is sent"),
  subject: content("Subject line"),
  emailTemplateId: ref("email_templates", "Template of the email"),
  defaultEmailTemplateId: ref("email_templates", "Template of the service")
})

export const storeSettings = defineList({
  table: "store_settings",
  description: "Settings of the store.",
  source: "C 15.6 GET /store/store-setting",
  scope: "any",
  unproven: true,
  full: [oneRecord({ request: get("/store/store-setting", altLocation), record: "data" })],
  version: "updatedAt",
  fields: {
    _id: id("Id of the settings"),
    shippingOrigin: object({
      name: personName("Name of who sends"),
      country: place("Country"),
      city: place("City"),
      state: place("State or region"),
      street1: address("Street and number"),
      street2: address("Further line of the address"),
      zip: postalCode("Postal code"),
      phone: phone("Phone"),
      email: email("Address for e-mail")
    }),
    storeOrderNotification: notification,
    storeOrderFulfillmentNotification: notification,
    createdAt: created("When they were made"),
    updatedAt: changed("Last change"),
    ...altFields
  }
})
