import { type Field, type Shape, flag, integer, list, number, object, text, timestamp } from "../http/shape.ts"

const all = (field: Field, names: string): Shape => Object.fromEntries(names.split(" ").map((name) => [name, field]))
const dates = all(timestamp, "createdAt updatedAt")
const account = all(text, "_id altId altType")

const template: Shape = {
  ...all(text, "id name editorType parentFolderId fromName fromEmail subject subjectLine previewText editorContentUrl"),
  ...all(flag, "isPlainText deleted archived"),
  ...dates,
  traceId: text
}

const campaign: Shape = {
  ...all(text, "id name status source sourceId campaignType campaignCategory"),
  deleted: flag,
  variations: list(object({ sourceId: text, isWinner: flag })),
  ...dates
}

const line = object({
  ...all(text, "_id name currency productId priceId type"),
  ...all(number, "amount qty"),
  taxes: list(object())
})

const invoiceItem: Shape = {
  ...all(text, "_id status name currency issueDate dueDate"),
  ...all(number, "invoiceNumber total amountDue")
}

const document: Shape = {
  ...account,
  ...all(text, "name title currency termsNotes"),
  ...all(object(), "businessDetails contactDetails discount"),
  total: number,
  liveMode: flag,
  ...dates
}

const payment: Shape = {
  ...account,
  ...all(text, "contactId contactName currency entityType entityId subscriptionId ipAddress"),
  amount: number,
  liveMode: flag,
  ...dates
}

const transaction: Shape = {
  ...payment,
  ...all(text, "status contactEmail chargeId invoiceId receiptId paymentMethod traceId"),
  amountRefunded: number,
  fulfilledAt: timestamp,
  ...all(flag, "markAsTest isParent"),
  ...all(object(), "chargeSnapshot contactSnapshot"),
  createdBy: { type: "any" }
}

const subscription: Shape = {
  ...payment,
  ...all(text, "entitySourceId paymentProviderConnectedAccount contactEmail"),
  ...all(object(), "entitySourceMeta subscriptionSnapshot"),
  ...all({ type: "any" }, "status createdBy")
}

const order: Shape = {
  ...account,
  ...all(text, "contactId contactName currency status paymentStatus fulfillmentStatus"),
  amount: number,
  liveMode: flag,
  ...dates
}

const flat = all(text, "entitySourceType entitySourceName paymentProviderType")
const nested = all(object(), "entitySource paymentProvider")

const label: Shape = { ...all(text, "id name primaryColor secondaryColor createdBy"), ...dates }

const submission: Shape = { ...all(text, "id contactId name"), createdAt: timestamp, others: object() }

/** Options of each platform (B 2.5); their members are not documented. */
export const platformDetails = all(
  object(),
  "facebook instagram youtube tiktok linkedin pinterest gmb".replaceAll(/\w+/g, "$&PostDetails")
)

/** The resources of document 2 (B 2), as in responses, which omit fields without a value. */
export const documentRecordShapes: Readonly<Record<string, Shape>> = {
  EmailTemplateListItem: {
    ...all(text, "id name type editorType previewUrl parentFolderId"),
    ...all(flag, "isPlainText hasChildren"),
    childCount: integer,
    ...dates
  },
  EmailTemplate: template,
  EmailTemplateFolder: { ...all(text, "id name traceId"), ...dates },
  EmailCampaignListItem: campaign,
  EmailCampaign: {
    ...campaign,
    ...all(text, "editorType fromName fromEmail subject replyToAddress previewText editorContentUrl"),
    isPlainText: flag
  },
  Product: {
    ...all(text, "_id locationId name productType description image statementDescriptor automaticTaxCategoryId slug"),
    ...all(flag, "availableInStore isTaxesEnabled"),
    variants: list(object()),
    collectionIds: list(text),
    taxes: list({ type: "any" }),
    label: object(all(text, "title startDate endDate")),
    ...dates
  },
  Price: {
    ...all(text, "_id product locationId name type currency userId"),
    ...all(number, "amount compareAtPrice availableQuantity"),
    ...all(flag, "trackInventory allowOutOfStockPurchases"),
    recurring: object({ interval: text, intervalCount: integer }),
    membershipOffers: list(object()),
    variantOptionIds: list(text),
    ...dates
  },
  InventoryItem: {
    ...all(text, "_id name sku product productName"),
    availableQuantity: number,
    allowOutOfStockPurchases: flag,
    updatedAt: timestamp
  },
  ProductCollection: all(text, "_id altId name slug image"),
  InvoiceListItem: invoiceItem,
  Invoice: {
    ...document,
    ...invoiceItem,
    ...all(text, "contactId invoiceNumberPrefix"),
    lateFeesConfiguration: object(),
    amountPaid: number,
    invoiceItems: list(line),
    sentTo: object(),
    totalSummary: object(all(number, "subTotal discount tax"))
  },
  InvoiceTemplate: { ...document, items: list(line) },
  Estimate: {
    ...document,
    ...all(text, "estimateStatus estimateNumberPrefix issueDate expiryDate"),
    frequencySettings: object(),
    ...all(number, "estimateNumber totalamountInUSD"),
    deleted: flag,
    items: list(line),
    traceId: text
  },
  EstimateTemplate: { ...document, items: list(line) },
  OrderListItem: {
    ...order,
    ...all(number, "subtotal discount"),
    ...all(text, "sourceType sourceName sourceId")
  },
  Order: {
    ...order,
    amountSummary: object(all(number, "subtotal discount")),
    source: object(all(text, "type id name")),
    items: list(object()),
    coupon: object(),
    contactSnapshot: object(),
    trackingId: text
  },
  Fulfillment: {
    ...account,
    trackings: list(object(all(text, "trackingNumber shippingCarrier trackingUrl"))),
    items: list(object({ _id: text, name: text, product: object(), price: object(), qty: number })),
    ...dates
  },
  TransactionListItem: { ...transaction, ...flat },
  Transaction: { ...transaction, ...nested },
  SubscriptionListItem: { ...subscription, ...flat, paymentsCollectedCount: integer },
  Subscription: {
    ...subscription,
    ...nested,
    ...all(object(), "schedule coupon recurringProduct contactSnapshot meta"),
    ...all(text, "canceledBy traceId"),
    ...all(flag, "autoPayment markAsTest"),
    canceledAt: timestamp
  },
  Coupon: {
    ...account,
    ...all(text, "name code discountType status startDate endDate"),
    ...all(number, "discountValue usageCount usageLimit limitPerCustomer"),
    applyToFuturePayments: flag,
    applyToFuturePaymentsConfig: object({ type: text, duration: number, durationType: text }),
    ...all(list(text), "productIds priceIds variantIds"),
    ...dates
  },
  SocialAccount: { ...all(text, "id platform name avatar"), isActive: flag },
  SocialPost: {
    ...all(text, "id type summary status userId platform postId error source createdBy"),
    ...all(timestamp, "displayDate publishedAt"),
    insights: object(),
    tags: list(text),
    accountIds: list(text),
    media: list(object(all(text, "url type"))),
    scheduleDate: timestamp,
    ...platformDetails
  },
  SocialCategory: label,
  SocialTag: label,
  Blog: all(text, "_id name"),
  BlogPost: {
    ...all(text, "_id title description status urlSlug author"),
    ...all(list(text), "categories tags"),
    archived: flag,
    ...all(timestamp, "publishedAt updatedAt")
  },
  BlogAuthor: { ...all(text, "_id name locationId canonicalLink"), updatedAt: timestamp },
  BlogCategory: { ...all(text, "_id label locationId urlSlug canonicalLink"), updatedAt: timestamp },
  Funnel: {
    ...all(text, "id name locationId url domainId"),
    isStoreActive: flag,
    dateAdded: timestamp,
    steps: list(object())
  },
  FunnelPage: { ...all(text, "_id locationId funnelId name stepId"), deleted: flag, updatedAt: timestamp },
  Redirect: all(text, "id locationId domain path pathLowercase type target action"),
  Form: all(text, "id name locationId"),
  Survey: all(text, "id name locationId"),
  FormSubmission: { ...submission, formId: text },
  SurveySubmission: { ...submission, surveyId: text }
}
