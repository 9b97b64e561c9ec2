import type { Sharp } from 'sharp'
import { averageBlocks, brighten, saturate, stretchContrast } from '../decoder/pixels.ts'
import type { Stage } from '../decoder/stage.ts'
import {
  COMPASS_POINTS,
  gravity,
  choice,
  decimal,
  flag,
  integer,
  isName,
  NAME_TAKES,
  parseDecimal,
  parseInteger,
  type Modifier,
} from './modifier.ts'

export const OUTPUT_FORMATS = ['webp', 'avif', 'jpg', 'png', 'gif'] as const
export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

export const FITS = ['fit', 'fill', 'pad', 'crop', 'scale'] as const

/** Longest side of an output. */
export const MAX_SIDE_PIXELS = 8192
const MAX_RATIO_TERM = 100
/** Larger coordinates lie outside of every image. */
const MAX_SOURCE_SIDE = 999_999
/** Smallest side that sharp trims, in pixels. */
const MIN_TRIM_SIDE = 3
const always = () => true

/** Where the mask of a blur ends, as a share of its centre. At sharp's 0.2, pictures are blurred a fifth less than `sigma` says. */
const BLUR_MASK_END = 0.025

const side = (key: 'w' | 'h', description: string) =>
  integer(key, {
    min: 1,
    max: MAX_SIDE_PIXELS,
    initial: null,
    description,
    examples: [`${key}_1`, `${key}_120`],
  })

const ratio: Modifier<readonly [width: number, height: number] | null> = {
  key: 'ar',
  initial: null,
  values: `W:H, each 1 to ${MAX_RATIO_TERM}`,
  expected: `ANCHO:ALTO, cada uno un entero de 1 a ${MAX_RATIO_TERM}`,
  description:
    'aspect ratio of the box: sets the side that is not given, or, with neither, the largest box within the image',
  examples: ['ar_4:3', 'ar_1:100', 'ar_100:1'],
  parse: (text) => {
    const [left, right, ...rest] = text?.split(':') ?? []
    const width = parseInteger(left, 1, MAX_RATIO_TERM)
    const height = parseInteger(right, 1, MAX_RATIO_TERM)
    return width === undefined || height === undefined || rest.length > 0 ? undefined : [width, height]
  },
  format: (value) => `ar_${value?.join(':')}`,
}

/** Eight lower-case hex digits: red, green, blue, alpha. */
const background: Modifier<string | null> = {
  key: 'bg',
  initial: null,
  values: '3, 6 or 8 hex digits',
  expected: '3, 6 u 8 dígitos hexadecimales',
  description:
    'background of `c_pad` and `pad_`, and of transparent parts; with 8 digits the last two are its opacity (in JPEG over white). ' +
    'Default: white for JPEG, else transparent',
  examples: ['bg_f0a', 'bg_010203', 'bg_01020380'],
  parse: (text) => {
    if (text === undefined || !/^(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(text)) return undefined
    const digits = text.toLowerCase()
    const full = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits
    return full.padEnd(8, 'f')
  },
  format: (value) => `bg_${value}`,
}

const keepMetadata: Modifier<boolean> = {
  ...flag('meta', '', { copiesOutput: true }),
  values: '`keep`',
  expected: 'keep',
  description:
    'of a still image keeps EXIF and XMP, in JPEG also IPTC, the place where a photograph was taken included, without thumbnails, ' +
    'previews, maker notes and colour profile; otherwise metadata is left out',
  examples: ['meta_keep'],
  parse: (text) => (text === 'keep' ? true : undefined),
  format: () => 'meta_keep',
}

/** A modifier whose value is a name. */
const named = (
  key: string,
  texts: Pick<Modifier<string>, 'values' | 'expected' | 'description' | 'examples'>,
): Modifier<string | null> => ({
  ...texts,
  key,
  initial: null,
  parse: (text) => (text !== undefined && isName(text) ? text : undefined),
  format: (value) => `${key}_${value}`,
})

type Area = readonly [left: number, top: number, width: number, height: number]

/** A modifier whose value is a part of the image. */
function area(
  key: string,
  parse: (text: string | undefined, min: number) => number | undefined,
  {
    unit,
    unidad,
    ...rest
  }: { unit: string; unidad: string; description: string; examples: readonly string[] },
): Modifier<Area | null> {
  return {
    ...rest,
    key,
    initial: null,
    values: `X_Y_W_H, ${unit}`,
    expected: `X_Y_ANCHO_ALTO, ${unidad}`,
    needsStill: always,
    parse: (text) => {
      const [left, top, width, height, ...more] = text?.split('_') ?? []
      const [x, y, w, h] = [parse(left, 0), parse(top, 0), parse(width, 1e-3), parse(height, 1e-3)]
      const isWhole = x !== undefined && y !== undefined && w !== undefined && h !== undefined
      return isWhole && more.length === 0 ? [x, y, w, h] : undefined
    },
    format: (value) => `${key}_${value?.join('_')}`,
  }
}

/** A modifier that changes the colours of a still image; `factor` is 0 to 2. */
const adjustment = (key: string, description: string, adjust: (image: Sharp, factor: number) => Sharp) =>
  integer(key, {
    min: -100,
    max: 100,
    initial: 0,
    description,
    examples: [`${key}_-100`, `${key}_20`, `${key}_100`],
    needsStill: always,
    copiesOutput: true,
    effect: {
      step: 'colour',
      // Rendered before, so that samples have 8 bits, and after, because sharp would adjust what is composited, too.
      apply: async (stage, percent) => stage.render(adjust((await stage.render()).image, 1 + percent / 100)),
    },
  })

const percent = (key: string, description: string) =>
  integer(key, { min: 1, max: 100, initial: null, description, examples: [`${key}_1`, `${key}_50`] })

/** Makes the corners transparent. */
async function roundCorners(stage: Stage, radius: number | 'max'): Promise<Stage> {
  const { image, width, height } = await stage.render()
  const corner = radius === 'max' ? Math.min(width, height) / 2 : radius
  const mask = `<svg width="${width}" height="${height}"><rect width="${width}" height="${height}" rx="${corner}" ry="${corner}"/></svg>`
  return stage.render(image.ensureAlpha().composite([{ input: Buffer.from(mask), blend: 'dest-in' }]))
}

/**
 * All modifiers by the field that they set. Their order is that of the canonical text, over which links are signed:
 * it is part of the API, so a new modifier goes to the end.
 */
const definitions = {
  /** Pixels before `dpr`. */
  width: side('w', 'width in pixels. Without a height the proportions are kept'),
  height: side('h', 'height in pixels. Without a width the proportions are kept'),
  ratio,
  dpr: decimal('dpr', {
    min: 1,
    max: 4,
    initial: 1,
    description: 'multiplies width and height',
    examples: ['dpr_1', 'dpr_1.125', 'dpr_4'],
  }),
  enlarge: flag('up', 'allows enlarging, which otherwise never happens'),
  fit: choice('c', {
    initial: 'fit',
    options: FITS,
    needsStill: (fit) => fit === 'pad',
    description:
      '`fit` (default): within the box, all of the image. `fill`: fills the box and cuts the rest off; a small image gives a ' +
      'smaller output of the same proportions. `pad`: within the box, the rest filled with the background. `crop`: cuts the box out ' +
      'without scaling. `scale`: the box, without keeping proportions',
  }),
  gravity,
  trim: flag('trim', 'cuts away a border of one colour', {
    needsStill: always,
    effect: {
      step: 'cut',
      apply: async (stage) =>
        Math.min(stage.width, stage.height) < MIN_TRIM_SIDE
          ? stage
          : stage.render((await stage.render()).image.trim()),
    },
  }),
  /** Degrees clockwise. */
  rotate: choice('r', {
    initial: 0,
    options: [90, 180, 270],
    expected: '90, 180 o 270',
    description: 'rotates clockwise, before the size is applied',
    needsStill: always,
    effect: { step: 'turn', apply: (stage, degrees) => stage.render(stage.image.rotate(degrees)) },
  }),
  flip: flag('flip', 'mirrors top to bottom', {
    needsStill: always,
    effect: { step: 'turn', apply: (stage) => stage.with(stage.image.flip()) },
  }),
  flop: flag('flop', 'mirrors left to right', {
    needsStill: always,
    effect: { step: 'turn', apply: (stage) => stage.with(stage.image.flop()) },
  }),
  /** Pixels of border on each side. */
  pad: integer('pad', {
    min: 1,
    max: 2048,
    initial: 0,
    description: 'border on each side, outside the box',
    examples: ['pad_1', 'pad_9'],
    needsStill: always,
  }),
  background,
  /** `auto` is the format that suits the client best. Null is the format of the image. */
  format: choice('f', {
    initial: null,
    options: ['auto', ...OUTPUT_FORMATS],
    aliases: { jpeg: 'jpg' },
    description:
      'output format (`f_jpeg` is `f_jpg`); `auto` depends on the client. Default: that of the image; PNG for SVG, and for TIFF JPEG, or ' +
      'PNG where it has alpha',
  }),
  quality: integer('q', {
    min: 1,
    max: 100,
    initial: null,
    word: 'auto',
    description:
      'quality. Default: JPEG and WebP 80, AVIF 60. `auto` finds the one with which this picture looks as good as others do with ' +
      'the default (an SSIMULACRA2 score of 78). PNG below 100 is reduced to a palette; GIF ignores it',
    examples: ['q_1', 'q_80', 'q_100', 'q_auto'],
  }),
  /** Standard deviation in pixels; 0 is none. */
  blur: decimal('blur', {
    min: 0.3,
    max: 100,
    initial: 0,
    description: 'Gaussian blur, standard deviation in pixels of the output',
    examples: ['blur_0.3', 'blur_2.5', 'blur_100'],
    effect: {
      step: 'detail',
      apply: (stage, sigma) => stage.with(stage.image.blur({ sigma, minAmplitude: BLUR_MASK_END })),
    },
  }),
  sharpen: flag('sharpen', 'sharpens', {
    effect: { step: 'detail', apply: (stage) => stage.with(stage.image.sharpen()) },
  }),
  gray: flag('gray', 'removes the colour', {
    copiesOutput: true,
    effect: {
      step: 'colour',
      apply: (stage) => (stage.isAnimated ? stage.with(stage.image.grayscale()) : stage.renderGray()),
    },
  }),
  /** Pixels a side of a block; 0 is none. */
  pixelate: integer('pixelate', {
    min: 2,
    max: 512,
    initial: 0,
    description: 'blocks with sides of this many pixels',
    examples: ['pixelate_2', 'pixelate_512'],
    needsStill: always,
    effect: { step: 'detail', apply: (stage, block) => stage.map((pixels) => averageBlocks(pixels, block)) },
  }),
  /** Pixels of corner radius; 0 is none. */
  radius: integer('rad', {
    min: 1,
    max: MAX_SIDE_PIXELS,
    initial: 0,
    word: 'max',
    description: 'rounds the corners; `max` is half the shorter side',
    examples: ['rad_3', 'rad_8192', 'rad_max'],
    needsStill: always,
    effect: { step: 'shape', apply: (stage, radius) => roundCorners(stage, radius) },
  }),
  /** Frame of an animation, from 0. */
  frame: integer('frame', {
    min: 0,
    max: 9999,
    initial: null,
    description: 'one frame of an animation or page of a TIFF, from 0; past the end, the last',
    examples: ['frame_0', 'frame_1', 'frame_9999'],
    needsStill: always,
  }),
  keepMetadata,
  watermark: named('wm', {
    values: 'a name from the settings',
    expected: 'el nombre de una marca de agua',
    description: 'lays an image of the same application over it',
    examples: ['wm_logo'],
  }),
  rect: area('rect', (text, min) => parseInteger(text, min, MAX_SOURCE_SIDE), {
    unit: 'in pixels',
    unidad: 'en píxeles',
    description: 'cuts a part out, before `trim` and `r_`. What lies outside the image is left off',
    examples: ['rect_10_20_300_200'],
  }),
  rel: area('rel', (text, min) => parseDecimal(text, min, 1), {
    unit: 'shares of the sides from 0 to 1',
    unidad: 'partes de los lados de 0 a 1',
    description: 'the same in shares of the sides, after `rect_`',
    examples: ['rel_0.25_0.25_0.5_0.5'],
  }),
  brightness: adjustment('bright', 'brightness in percent more or less, as `brightness()` of CSS', brighten),
  contrast: adjustment(
    'contrast',
    'contrast in percent more or less, as `contrast()` of CSS',
    stretchContrast,
  ),
  saturation: adjustment('sat', 'saturation in percent more or less, as `saturate()` of CSS', saturate),
  /** File name without extension. */
  download: named('dl', {
    values: NAME_TAKES,
    expected: 'un nombre de hasta 32 letras minúsculas, cifras y guiones',
    description: 'browsers save the image as a file of this name; its extension is added',
    examples: ['dl_foto-1'],
  }),
  watermarkPlace: choice('wmg', {
    initial: null,
    options: COMPASS_POINTS,
    description: 'where the watermark lies, in place of what the settings say',
  }),
  /** Percent of the width of the output. */
  watermarkWidth: percent('wms', 'width of the watermark in percent, in place of that of the settings'),
  watermarkOpacity: percent('wmo', 'opacity of the watermark in percent, in place of that of the settings'),
}

type ValueOf<Definition> = Definition extends Modifier<infer Value> ? Value : never
type Values = { readonly [Field in keyof typeof definitions]: ValueOf<(typeof definitions)[Field]> }
export type Field = keyof Values

export const modifiers: { readonly [Name in Field]: Modifier<Values[Name]> } = definitions

const isField = (name: string): name is Field => Object.hasOwn(definitions, name)
/** In canonical order. */
export const FIELDS: readonly Field[] = Object.keys(definitions).filter(isField)

/** What a client accepts: these formats, or the image's own (`own`), which may be the original if nothing else changes. */
export type AcceptedFormat = 'avif' | 'webp' | 'jpg' | 'png' | 'own'

/** What to do with an image: plain data, the same for every order of the same modifiers. */
export type Transformation = Values & {
  /** The formats that `f_auto` may become for a client. No link sets it. */
  readonly accepted: readonly AcceptedFormat[] | null
}

/** A transformation after content negotiation: its format is known, or one of `accepted`. */
export type ResolvedTransformation = Omit<Transformation, 'format'> & { readonly format: OutputFormat | null }

/** Values of some fields. */
export type Changes = { -readonly [Name in Field]?: Values[Name] }

const initialValues = FIELDS.reduce<Changes>(setInitial, {})

function setInitial<Name extends Field>(changes: Changes, field: Name): Changes {
  const { initial }: { readonly initial: Values[Name] } = modifiers[field]
  changes[field] = initial
  return changes
}

const isComplete = (changes: Changes): changes is Values => FIELDS.every((field) => field in changes)
if (!isComplete(initialValues)) throw new Error('a modifier has no initial value')

/** Leaves the image as it is. */
export const UNCHANGED: ResolvedTransformation = { ...initialValues, format: null, accepted: null }
