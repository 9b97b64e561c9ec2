import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  canonical,
  FIELDS,
  formatOfExtension,
  isIdentity,
  modifiers,
  parseModifiers,
  UNCHANGED,
  type Transformation,
} from './index.ts'
import { isImageHash } from '../image-fields.ts'
import { signedLink } from '../links/link.ts'

function transformationOf(text: string): Transformation {
  const parsed = parseModifiers(text)
  assert.ok(parsed.ok, `${text}: ${JSON.stringify(parsed)}`)
  return parsed.transformation
}

function faultOf(text: string): readonly [kind: string, token: string] {
  const parsed = parseModifiers(text)
  assert.ok(!parsed.ok, `${text} was accepted`)
  return [parsed.fault.kind, parsed.fault.token]
}

test('each token sets its fields', () => {
  const cases: Record<string, Partial<Transformation>> = {
    '': {},
    w_300: { width: 300 },
    h_8192: { height: 8192 },
    s_300x200: { width: 300, height: 200 },
    '300x200': { width: 300, height: 200 },
    'ar_16:9': { ratio: [16, 9] },
    'dpr_1.5': { dpr: 1.5 },
    up: { enlarge: true },
    c_fill: { fit: 'fill' },
    g_ne: { gravity: { kind: 'compass', point: 'ne' } },
    g_auto: { gravity: { kind: 'auto' } },
    'g_xy_0.3_0.6': { gravity: { kind: 'point', x: 0.3, y: 0.6 } },
    r_270: { rotate: 270 },
    'flip,flop,trim': { flip: true, flop: true, trim: true },
    pad_10: { pad: 10 },
    bg_F0a: { background: 'ff00aaff' },
    bg_11223344: { background: '11223344' },
    f_jpg: { format: 'jpg' },
    f_jpeg: { format: 'jpg' },
    q_100: { quality: 100 },
    q_auto: { quality: 'auto' },
    'blur_0.5,sharpen,gray': { blur: 0.5, sharpen: true, gray: true },
    pixelate_8: { pixelate: 8 },
    rad_max: { radius: 'max' },
    frame_0: { frame: 0 },
    meta_keep: { keepMetadata: true },
    s: { width: 90, height: 90, fit: 'fill' },
    b: { width: 160, height: 160, fit: 'fill' },
    t: { width: 160, height: 160 },
    thumb: { width: 160, height: 160 },
    rect_0_5_300_200: { rect: [0, 5, 300, 200] },
    'rel_0.25_0_0.5_1': { rel: [0.25, 0, 0.5, 1] },
    'bright_-20,contrast_100,sat_0': { brightness: -20, contrast: 100 },
    'dl_foto-1': { download: 'foto-1' },
    'wmg_ne,wms_40,wmo_5': { watermarkPlace: 'ne', watermarkWidth: 40, watermarkOpacity: 5 },
    m: { width: 320, height: 320 },
    l: { width: 640, height: 640 },
    p_h: { width: 1024, height: 1024 },
    'w_50,m': { width: 50, height: 320 },
    'w_300.webp': { width: 300, format: 'webp' },
    'dpr_1.5.JPEG': { dpr: 1.5, format: 'jpg' },
    'thumb.png': { width: 160, height: 160, format: 'png' },
    '.gif': { format: 'gif' },
  }
  for (const [text, fields] of Object.entries(cases))
    assert.deepEqual(transformationOf(text), { ...UNCHANGED, ...fields }, text)
})

test('the fault names the token that is unknown, malformed, out of range or repeated', () => {
  const cases: Record<string, readonly [kind: string, token: string]> = {
    nope: ['unknown', 'nope'],
    toString_1: ['unknown', 'toString_1'],
    p_constructor: ['unknown', 'p_constructor'],
    p_nope: ['unknown', 'p_nope'],
    'w_300,,h_2': ['unknown', ''],
    ',': ['unknown', ''],
    W_300: ['unknown', 'W_300'],
    w: ['range', 'w'],
    w_: ['range', 'w_'],
    w_0: ['range', 'w_0'],
    w_8193: ['range', 'w_8193'],
    'w_-1': ['range', 'w_-1'],
    w_1e2: ['range', 'w_1e2'],
    w_010: ['range', 'w_010'],
    'w_1.5': ['range', 'w_1.5'],
    '0x10': ['range', '0x10'],
    s_10x10x10: ['range', 's_10x10x10'],
    dpr_5: ['range', 'dpr_5'],
    'w_5000,dpr_2': ['range', 'dpr_2'],
    c_squash: ['range', 'c_squash'],
    g_xy_2_0: ['range', 'g_xy_2_0'],
    r_45: ['range', 'r_45'],
    up_1: ['range', 'up_1'],
    bg_12345: ['range', 'bg_12345'],
    f_bmp: ['range', 'f_bmp'],
    q_0: ['range', 'q_0'],
    q_101: ['range', 'q_101'],
    'w_-0': ['range', 'w_-0'],
    rect_1_2_3: ['range', 'rect_1_2_3'],
    rect_1_2_3_0: ['range', 'rect_1_2_3_0'],
    'rect_-1_2_3_4': ['range', 'rect_-1_2_3_4'],
    'rel_0_0_1_1.5': ['range', 'rel_0_0_1_1.5'],
    rel_0_0_0_1: ['range', 'rel_0_0_0_1'],
    bright_101: ['range', 'bright_101'],
    'bright_-0': ['range', 'bright_-0'],
    dl_Foto: ['range', 'dl_Foto'],
    wms_0: ['range', 'wms_0'],
    'w_1,w_1': ['repeated', 'w_1'],
    'w_1,s_2x2': ['repeated', 's_2x2'],
    's,t': ['repeated', 't'],
    'f_png,w_1.webp': ['repeated', 'f_webp'],
  }
  for (const [text, fault] of Object.entries(cases)) assert.deepEqual(faultOf(text), fault, text)
})

test("a format token takes precedence over the link's extension", () => {
  const read = (text: string): unknown => {
    const parsed = parseModifiers(text, 'png')
    return parsed.ok && parsed.transformation.format
  }
  assert.equal(read(''), 'png')
  assert.equal(read('w_3'), 'png')
  assert.equal(read('w_3,f_webp'), 'webp')
  assert.equal(formatOfExtension('JPEG'), 'jpg')
  assert.equal(formatOfExtension('svg'), undefined)
})

/** One token of each modifier, and a preset. A watermark is valid only if the settings have it. */
const tokens = [
  ...FIELDS.filter((field) => field !== 'watermark').map((field) =>
    fc.constantFrom(...modifiers[field].examples),
  ),
  fc.constantFrom('s', 'b', 't', 'm', 'l', 'h', 'thumb', 'p_m'),
]
const modifier = fc
  .tuple(...tokens.map((token) => fc.option(token, { nil: undefined })))
  .map((parts) => parts.filter((part) => part !== undefined))

test('the canonical text parses to the same transformation', () => {
  fc.assert(
    fc.property(modifier, (parts) => {
      const transformation = transformationOf(parts.join(','))
      assert.deepEqual(transformationOf(canonical(transformation)), transformation)
    }),
  )
  assert.equal(canonical(UNCHANGED), '')
  assert.ok(isIdentity(transformationOf('c_fit,g_center,dpr_1')))
  assert.equal(canonical(transformationOf('q_80,up,thumb.webp')), 'w_160,h_160,up,f_webp,q_80')
})

/** Links are signed over this order, and live for years: append new modifiers, and never change what is here. */
const RELEASED = (
  'w h ar dpr up c g trim r flip flop pad bg f q blur sharpen gray pixelate rad frame meta wm ' +
  'rect rel bright contrast sat dl wmg wms wmo'
).split(' ')

test('the canonical order and text of released modifiers never change, and so the signatures of links', () => {
  assert.deepEqual(
    FIELDS.map((field) => modifiers[field].key),
    RELEASED,
  )
  const all =
    'w_300,h_200,ar_4:3,dpr_1.5,up,c_fill,g_xy_0.3_0.6,trim,r_90,flip,flop,pad_10,bg_11223344,f_webp,q_80,' +
    'blur_2.5,sharpen,gray,pixelate_8,rad_max,frame_1,meta_keep,wm_logo,rect_1_2_3_4,rel_0.1_0.2_0.3_0.4,' +
    'bright_-5,contrast_6,sat_7,dl_foto,wmg_ne,wms_40,wmo_50'
  const grammar = { presets: new Map(), watermarks: new Set(['logo']) }
  const parsed = parseModifiers(all.split(',').toReversed().join(','), undefined, grammar)
  assert.ok(parsed.ok)
  assert.equal(canonical(parsed.transformation), all)
  const hash = '42j4wpd3wjumvg7ovuzuh4g5ev565hwq'
  assert.ok(isImageHash(hash))
  const link = signedLink('secreto', hash, parsed.transformation, 4_000_000_000)
  assert.equal(link, `${hash}&m=${all},exp_4000000000,sig_qxeEOd_-fg9Vp5JJjsrTGQ`)
})
