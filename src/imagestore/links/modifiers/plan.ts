export const outputFormats = ['webp', 'avif', 'jpg', 'png', 'gif'] as const
export type OutputFormat = (typeof outputFormats)[number]

export const fits = ['fit', 'fill', 'pad', 'crop', 'scale'] as const
export type Fit = (typeof fits)[number]

export const compassPoints = ['center', 'n', 'ne', 'e', 'se', 's', 'sw', 'w', 'nw'] as const

/** `auto` is whatever suits the client best, and is settled before anything is made. */
export type AskedFormat = OutputFormat | 'auto'

/** What stays in a crop. `x` and `y` run from 0 (left, top) to 1. */
export type Gravity =
  | { readonly kind: 'compass'; readonly point: (typeof compassPoints)[number] }
  | { readonly kind: 'auto' }
  | { readonly kind: 'entropy' }
  | { readonly kind: 'point'; readonly x: number; readonly y: number }

/** Pixels a side that an output may have. */
export const MAX_SIDE = 8192

/** What a client takes: these formats, or the image's own kind, which includes the original where nothing is to be changed. */
export type WelcomeFormat = 'avif' | 'webp' | 'png' | 'own'

/** What a request says beside its link, where the link leaves the format open. */
export interface ClientWishes {
  readonly formats: readonly WelcomeFormat[]
  /** Whether few bytes count more than looks. */
  readonly light: boolean
}

/** What to make of an image: plain data, the same for every order of the same modifiers. `null` is "as the image has it". */
export interface Plan {
  /** Pixels before `dpr`. */
  readonly width: number | null
  readonly height: number | null
  /** Width divided by height, as written: `16:9`. */
  readonly ratio: readonly [width: number, height: number] | null
  readonly dpr: number
  readonly enlarge: boolean
  readonly fit: Fit
  readonly gravity: Gravity
  readonly trim: boolean
  /** Degrees clockwise. */
  readonly rotate: 0 | 90 | 180 | 270
  readonly flip: boolean
  readonly flop: boolean
  /** Pixels of border on each side. */
  readonly pad: number
  /** Eight lower-case hex digits: red, green, blue, alpha. */
  readonly background: string | null
  readonly format: AskedFormat | null
  readonly quality: number | 'auto' | null
  /** Standard deviation in pixels; 0 is none. */
  readonly blur: number
  readonly sharpen: boolean
  readonly gray: boolean
  /** Pixels a side of a block; 0 is none. */
  readonly pixelate: number
  /** Pixels of corner radius; 0 is none. */
  readonly radius: number | 'max'
  /** Frame of an animation, from 0. */
  readonly frame: number | null
  readonly keepMetadata: boolean
  /** Name of the image that is laid over it. */
  readonly watermark: string | null
  /** Set when `auto` is settled and the engine is to write what is smallest. No link says it. */
  readonly client: ClientWishes | null
}

/** A plan that says what to write: what the engine takes. */
export type SettledPlan = Omit<Plan, 'format'> & { readonly format: OutputFormat | null }

export const emptyPlan: SettledPlan = {
  width: null,
  height: null,
  ratio: null,
  dpr: 1,
  enlarge: false,
  fit: 'fit',
  gravity: { kind: 'compass', point: 'center' },
  trim: false,
  rotate: 0,
  flip: false,
  flop: false,
  pad: 0,
  background: null,
  format: null,
  quality: null,
  blur: 0,
  sharpen: false,
  gray: false,
  pixelate: 0,
  radius: 0,
  frame: null,
  keepMetadata: false,
  watermark: null,
  client: null,
}
