import { iso } from "../../account/clock.ts"
import { cents } from "../../account/seeded.ts"
import type { Data } from "../../account/collection.ts"
import { secretText } from "./seeded-documents.ts"
import { type Make, type Parts, further, idAt, times } from "./parts.ts"

const account = ({ context }: Parts): Data => ({ altId: context.locationId, altType: "location" })
const lineOf = (index: number): Data => ({
  _id: `it${index}`,
  name: "Hedge cut",
  currency: "EUR",
  qty: 1,
  amount: 100.5,
  taxes: []
})
const few = ({ owners }: Parts): number => owners.share(0.05, 6)

export const furtherCommerceCollections: Record<
  | "invoiceSchedules"
  | "productReviews"
  | "shippingZones"
  | "shippingCarriers"
  | "storeSettings"
  | "affiliates"
  | "affiliateCommissions"
  | "affiliatePayouts",
  Make
> = {
  invoiceSchedules: further(60, few, (draw, parts) => {
    const who = parts.owners.of(260, draw.index)
    return {
      _id: draw.id,
      status: draw.index % 3 === 0 ? "draft" : "scheduled",
      liveMode: draw.index % 4 !== 3,
      ...account(parts),
      name: `Garden ${draw.index}`,
      title: "INVOICE",
      schedule:
        draw.index % 3 === 0
          ? { executeAt: iso(draw.entry.updated) }
          : { rrule: { intervalType: "monthly", interval: 1, startDate: "2026-01-01", dayOfMonth: 1 } },
      // Invoices that were made so far, whole.
      invoices:
        draw.index % 2 === 0 ? [{ _id: idAt(parts.of("invoices"), draw.index), status: "paid", total: 100 }] : [],
      businessDetails: { name: "Harbor & Pine" },
      contactDetails: { id: who.id, name: who.name, phoneNo: who.phone, email: who.email },
      currency: "EUR",
      total: 100.5,
      items: [lineOf(draw.index)],
      termsNotes: "",
      compiledTermsNotes: "",
      ...times(draw)
    }
  }),
  productReviews: further(61, few, (draw, parts) => ({
    _id: draw.id,
    productId: idAt(parts.of("products"), draw.index),
    storeId: parts.context.locationId,
    status: ["approved", "pending"][draw.index % 2],
    rating: 3.5,
    headline: "Holds",
    detail: "Survived a storm, ünd more.",
    reply: draw.index % 2 === 0 ? [{ headline: "Thanks", comment: "Good to hear." }] : [],
    createdAt: iso(draw.entry.created)
  })),
  shippingZones: further(62, 2, (draw, parts) => ({
    _id: draw.id,
    ...account(parts),
    name: ["Coast", "Rest"][draw.index],
    countries:
      draw.index === 0
        ? [{ code: "US", states: [{ code: "OR" }] }]
        : [
            { code: "CA", states: [] },
            { code: "DE", states: [] }
          ],
    shippingRates: [
      {
        _id: `${draw.id}-1`,
        ...account(parts),
        name: "Parcel",
        currency: "EUR",
        amount: 4.5,
        conditionType: "weight",
        minCondition: 0,
        maxCondition: 5,
        shippingCarrierId: "",
        shippingZoneId: draw.id,
        ...times(draw)
      }
    ],
    ...times(draw)
  })),
  shippingCarriers: further(63, 1, (draw, parts) => ({
    _id: draw.id,
    ...account(parts),
    name: "Coast post",
    callbackUrl: `https://post.example/rates?key=${secretText}`,
    services: [{ name: "Next day", value: "ND" }],
    allowsMultipleServiceSelection: true,
    marketplaceAppId: "app3",
    ...times(draw)
  })),
  storeSettings: further(64, 1, (draw, parts) => ({
    _id: draw.id,
    ...account(parts),
    shippingOrigin: {
      name: "Harbor shop",
      country: "US",
      city: "Port Sample",
      street1: "1 Quay",
      zip: "00001",
      email: "shop@example.com"
    },
    storeOrderNotification: {
      enabled: true,
      subject: "We have your order",
      emailTemplateId: "tpl2",
      defaultEmailTemplateId: "tpl0"
    },
    ...times(draw)
  })),
  affiliates: further(65, few, (draw, parts) => {
    const who = parts.owners.of(265, draw.index)
    return {
      _id: draw.id,
      locationId: parts.context.locationId,
      firstName: who.firstName,
      email: who.email,
      active: draw.index % 3 !== 2,
      deleted: false,
      contactId: who.id,
      campaignIds: ["ac1"],
      vatId: `DE${draw.index}`,
      w9Form: `https://papers.example/${secretText}`,
      revenue: cents(draw.random.between(1, 900) + 0.5),
      paid: 40,
      owned: 50,
      currency: "EUR",
      customer: 3,
      lead: 7,
      droppedCustomer: 0,
      clickCount: 61,
      ...times(draw)
    }
  }),
  affiliateCommissions: further(66, few, (draw, parts) => ({
    _id: draw.id,
    productId: idAt(parts.of("products"), draw.index),
    productName: "Rope",
    qty: 2,
    productCommission: 5,
    commissionAmount: 10,
    amount: 50,
    unitDiscount: 0,
    campaignName: "Friends",
    commission: 20,
    commissionType: "percentage",
    transactionAt: iso(draw.entry.created),
    transactionId: `tx${draw.index}`,
    affiliateId: idAt(parts.of("affiliates"), draw.index),
    status: "pending",
    currency: "EUR",
    isTrial: false,
    customer: { _id: "cu1", firstName: "Olav", email: "olav@example.com", type: "customer" },
    campaign: { id: "ac1", name: "Friends", liveMode: true },
    affiliate: { _id: "af1", name: "Ilse", email: "ilse@example.com" },
    createdAt: iso(draw.entry.created),
    dueAt: iso(draw.entry.updated),
    liveMode: true,
    tier: 1
  })),
  affiliatePayouts: further(67, 4, (draw, parts) => ({
    _id: draw.id,
    locationId: parts.context.locationId,
    affiliateId: idAt(parts.of("affiliates"), draw.index),
    affiliate: { w8Form: secretText },
    campaignId: "ac1",
    currency: "EUR",
    amount: 10.25,
    status: "pending",
    payoutMonth: iso(draw.entry.created),
    dueAt: iso(draw.entry.updated),
    deleted: false,
    ...times(draw),
    campaign: "Friends",
    affiliateName: "Ilse Sample",
    affiliateEmail: "ilse@example.com",
    payoutMethod: "manual"
  }))
}
