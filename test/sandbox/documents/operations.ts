/** Every operation of document 2, sections 4.1 to 4.8, copied manually, with its scope and its test file. */
const table = `
GET    /emails/locations/{locationId}/templates                        emails/templates.readonly         emails
POST   /emails/locations/{locationId}/templates                        emails/templates.write            emails
GET    /emails/locations/{locationId}/templates/{templateId}           emails/templates.readonly         emails
PATCH  /emails/locations/{locationId}/templates/{templateId}           emails/templates.write            emails
DELETE /emails/locations/{locationId}/templates/{templateId}           emails/templates.write            emails
POST   /emails/locations/{locationId}/templates/folders                emails/templates.write            emails
POST   /emails/locations/{locationId}/templates/import                 emails/templates.write            emails
GET    /emails/locations/{locationId}/campaigns/emails                 emails/campaigns.readonly         emails
POST   /emails/locations/{locationId}/campaigns/emails                 emails/campaigns.write            emails
GET    /emails/locations/{locationId}/campaigns/emails/{campaignId}    emails/campaigns.readonly         emails
GET    /products/                                                      products.readonly                 products
GET    /products/{productId}                                           products.readonly                 products
POST   /products/                                                      products.write                    products
PUT    /products/{productId}                                           products.write                    products
DELETE /products/{productId}                                           products.write                    products
POST   /products/bulk-update                                           products.write                    products
GET    /products/{productId}/price                                     products/prices.readonly          prices
GET    /products/{productId}/price/{priceId}                           products/prices.readonly          prices
POST   /products/{productId}/price                                     products/prices.write             prices
PUT    /products/{productId}/price/{priceId}                           products/prices.write             prices
DELETE /products/{productId}/price/{priceId}                           products/prices.write             prices
GET    /products/inventory                                             products/prices.readonly          prices
POST   /products/inventory                                             products/prices.write             prices
GET    /products/collections                                           products/collection.readonly      products
GET    /invoices/                                                      invoices.readonly                 invoices
GET    /invoices/{invoiceId}                                           invoices.readonly                 invoices
POST   /invoices/                                                      invoices.write                    invoices
PUT    /invoices/{invoiceId}                                           invoices.write                    invoices
DELETE /invoices/{invoiceId}                                           invoices.write                    invoices
POST   /invoices/{invoiceId}/void                                      invoices.write                    invoices
POST   /invoices/{invoiceId}/record-payment                            invoices.write                    invoices
POST   /invoices/{invoiceId}/send                                      invoices.write                    invoices
POST   /invoices/text2pay                                              invoices.write                    invoices
PATCH  /invoices/{invoiceId}/late-fees-configuration                   invoices.write                    invoices
GET    /invoices/estimate/list                                         invoices/estimate.readonly        estimates
POST   /invoices/estimate                                              invoices/estimate.write           estimates
PUT    /invoices/estimate/{estimateId}                                 invoices/estimate.write           estimates
DELETE /invoices/estimate/{estimateId}                                 invoices/estimate.write           estimates
POST   /invoices/estimate/{estimateId}/send                            invoices/estimate.write           estimates
POST   /invoices/estimate/{estimateId}/invoice                         invoices/estimate.write           estimates
GET    /invoices/generate-invoice-number                               invoices.readonly                 invoices
GET    /invoices/estimate/number/generate                              invoices/estimate.readonly        estimates
GET    /invoices/settings                                              invoices.readonly                 invoices
GET    /invoices/estimate/template                                     invoices/estimate.readonly        estimates
GET    /invoices/estimate/template/preview                             invoices/estimate.readonly        estimates
POST   /invoices/estimate/template                                     invoices/estimate.write           estimates
DELETE /invoices/estimate/template/{templateId}                        invoices/estimate.write           estimates
GET    /invoices/template                                              invoices/template.readonly        invoices
GET    /payments/orders                                                payments/orders.readonly          orders
GET    /payments/orders/{orderId}                                      payments/orders.readonly          orders
GET    /payments/orders/{orderId}/fulfillments                         payments/orders.readonly          orders
POST   /payments/orders/{orderId}/fulfillments                         payments/orders.write             orders
POST   /payments/orders/{orderId}/record-payment                       payments/orders.collectPayment    orders
GET    /payments/orders/{orderId}/notes                                payments/orders.readonly          orders
GET    /payments/transactions                                          payments/transactions.readonly    payments
GET    /payments/transactions/{transactionId}                          payments/transactions.readonly    payments
GET    /payments/subscriptions                                         payments/subscriptions.readonly   payments
GET    /payments/subscriptions/{subscriptionId}                        payments/subscriptions.readonly   payments
GET    /payments/coupon/list                                           payments/coupons.readonly         coupons
GET    /payments/coupon                                                payments/coupons.readonly         coupons
POST   /payments/coupon                                                payments/coupons.write            coupons
PUT    /payments/coupon                                                payments/coupons.write            coupons
DELETE /payments/coupon                                                payments/coupons.write            coupons
GET    /social-media-posting/{locationId}/accounts                     socialplanner/account.readonly    social
POST   /social-media-posting/{locationId}/posts/list                   socialplanner/post.readonly       social
GET    /social-media-posting/{locationId}/posts/{postId}               none                              social
POST   /social-media-posting/{locationId}/posts                        socialplanner/post.write          social
PUT    /social-media-posting/{locationId}/posts/{postId}               none                              social
DELETE /social-media-posting/{locationId}/posts/{postId}               none                              social
GET    /social-media-posting/{locationId}/categories                   socialplanner/category.readonly   social
GET    /social-media-posting/{locationId}/tags                         none                              social
GET    /blogs/site/all                                                 blogs/list.readonly               blogs
GET    /blogs/posts/all                                                blogs/posts.readonly              blogs
POST   /blogs/posts                                                    blogs/post.write                  blogs
PUT    /blogs/posts/{postId}                                           blogs/post-update.write           blogs
GET    /blogs/posts/url-slug-exists                                    blogs/check-slug.readonly         blogs
GET    /blogs/authors                                                  blogs/author.readonly             blogs
GET    /blogs/categories                                               blogs/category.readonly           blogs
GET    /funnels/funnel/list                                            none                              funnels
GET    /funnels/page                                                   none                              funnels
GET    /funnels/page/count                                             none                              funnels
GET    /funnels/lookup/redirect/list                                   funnels/redirect.readonly         funnels
POST   /funnels/lookup/redirect                                        funnels/redirect.write            funnels
PATCH  /funnels/lookup/redirect/{id}                                   funnels/redirect.write            funnels
DELETE /funnels/lookup/redirect/{id}                                   funnels/redirect.write            funnels
GET    /forms/                                                         forms.readonly                    forms
GET    /forms/submissions                                              forms.readonly                    forms
POST   /forms/upload-custom-files                                      forms.write                       forms
GET    /surveys/                                                       surveys.readonly                  forms
GET    /surveys/submissions                                            surveys.readonly                  forms
`

export interface Operation {
  readonly method: string
  readonly path: string
  /** Undefined if any valid token is accepted. */
  readonly scope: string | undefined
  readonly testFile: string
}

export const operations: ReadonlyArray<Operation> = table
  .trim()
  .split("\n")
  .map((line) => {
    const [method, path, scope, file] = line.split(/\s+/) as [string, string, string, string]
    return { method, path, scope: scope === "none" ? undefined : scope, testFile: `${file}.test.ts` }
  })
