/** How an application lets its images be asked for, from the most to the least permissive. */
export const DELIVERY_MODES = ['open', 'ladder', 'presets', 'signed'] as const
export type DeliveryMode = (typeof DELIVERY_MODES)[number]

/** What one of the applications that hold an image has settled. */
export interface Holder {
  readonly mode: DeliveryMode
  /** What its links are signed with; null where it never signed one. */
  readonly secret: string | null
}

/** One image may be held by several applications, and its link is the same: what one of them allows cannot be kept from others. */
export const modeOf = (holders: readonly Holder[]): DeliveryMode =>
  DELIVERY_MODES.find((mode) => holders.some((holder) => holder.mode === mode)) ?? 'open'
