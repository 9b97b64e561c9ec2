/** The adapters of clients/js, as the frameworks call them. Each link is one that the service understands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transformBaseImageProps, type CoreImageAttributes } from '@unpic/core/base'
import { loader } from '../../clients/js/next.ts'
import nuxtProvider, { getImage } from '../../clients/js/nuxt.ts'
import {
  extract,
  generate,
  transform,
  type CatalejoOperations,
  type CatalejoOptions,
} from '../../clients/js/unpic.ts'
import { parseLink, readLink } from '../../src/imagestore/links/link.ts'
import { defaultGrammar } from '../../src/imagestore/modifiers/index.ts'

const HASH = '42j4wpd3wjumvg7ovuzuh4g5ev565hwq'
const BASE = 'https://imagenes.example.cl'
const LINK = `${BASE}/i/${HASH}`
/** What is not an unsigned link of the service stays as it is. */
const OTHERS = ['/logo.svg', 'https://example.com/x.png', `${LINK}&m=w_90,sig_${'A'.repeat(22)}`]

function assertUnderstood(link: string): void {
  const target = readLink(link.slice(link.indexOf('/i/') + '/i/'.length))
  const parsed = target && parseLink(target, 'tif', defaultGrammar)
  assert.ok(parsed?.ok, link)
}

function assertLink(actual: string, expected: string): void {
  assert.equal(actual, expected)
  assertUnderstood(actual)
}

test('the loader of next/image', () => {
  const load = loader(BASE)
  assertLink(load({ src: HASH, width: 640 }), `${LINK}&m=w_640,f_auto`)
  assertLink(load({ src: `/${HASH}`, width: 640, quality: 75 }), `${LINK}&m=w_640,f_auto,q_75`)
  const square = loader('', { ar: '1:1', c: 'fill', q: 'auto' })
  assertLink(square({ src: LINK, width: 64, quality: undefined }), `${LINK}&m=w_64,ar_1:1,c_fill,q_auto`)
  for (const src of OTHERS) assert.equal(load({ src, width: 640 }), src)
})

test('the provider of Nuxt Image', () => {
  const generated = (modifiers: Parameters<typeof getImage>[1]['modifiers'], src = `/${HASH}`) =>
    nuxtProvider().getImage(src, { ...(modifiers && { modifiers }), baseURL: `${BASE}/` }).url
  const size = { width: 200, height: 200 }
  const cases = [
    [{}, 'f_auto'],
    [{ width: 200 }, 'w_200,f_auto'],
    [{ height: 200 }, 'h_200,f_auto'],
    [size, 'w_200,h_200,f_auto'],
    [{ ...size, fit: 'cover' }, 'w_200,h_200,c_fill,f_auto'],
    [{ ...size, fit: 'contain' }, 'w_200,h_200,c_pad,f_auto'],
    [{ ...size, fit: 'contain', format: 'jpeg' }, 'w_200,h_200,c_pad,f_jpeg'],
    [{ ...size, fit: 'fill' }, 'w_200,h_200,c_scale,f_auto'],
    [{ ...size, fit: 'inside', format: 'webp', quality: 60 }, 'w_200,h_200,c_fit,f_webp,q_60'],
    [{ background: '#fc0', blur: 5, g: 'auto' }, 'g_auto,bg_fc0,f_auto,blur_5'],
  ] as const
  for (const [modifiers, tokens] of cases) assertLink(generated(modifiers), `${LINK}&m=${tokens}`)
  assertLink(generated({ p: 'thumb' }, '/@tienda/portada'), `${BASE}/i/@tienda/portada&m=p_thumb,f_auto`)
  assertLink(getImage(`/i/${HASH}`, { modifiers: { width: 90 } }).url, `/i/${HASH}&m=w_90,f_auto`)
  for (const src of OTHERS) assert.equal(generated({ width: 90 }, src), src)
})

test('the transformer of unpic', () => {
  assert.deepEqual(extract(`${LINK}.webp&m=300x200,c_fill,q_auto,gray,exp_4000000000`), {
    src: `${LINK}.webp`,
    operations: { width: 300, height: 200, c: 'fill', quality: 'auto', gray: true },
    options: {},
  })
  assert.deepEqual(extract(new URL(`${LINK}&m=thumb,f_jpg`))?.operations, { p: 'thumb', format: 'jpg' })
  assertLink(generate(LINK, { width: 300.4, height: '200' }), `${LINK}&m=w_300,h_200,c_fill,f_auto`)
  assertLink(generate(HASH, { width: 300, c: 'pad' }, { base: BASE }), `${LINK}&m=w_300,c_pad,f_auto`)
  const again = transform(`${LINK}&m=w_300,h_200,c_fill,gray`, { width: 600, quality: 70 })
  assertLink(again, `${LINK}&m=w_600,h_200,c_fill,f_auto,q_70,gray`)
  for (const src of OTHERS) {
    assert.equal(transform(src, { width: 90 }), src)
    assert.equal(extract(src), null)
  }
})

test('unpic makes a srcset with it', () => {
  const { src, srcset } = transformBaseImageProps<CatalejoOperations, CatalejoOptions, CoreImageAttributes>({
    src: LINK,
    width: 400,
    height: 300,
    transformer: transform,
  })
  assertLink(String(src), `${LINK}&m=w_400,h_300,c_fill,f_auto`)
  const links = String(srcset).split(',\n')
  assert.ok(links.length > 3)
  for (const candidate of links) {
    const [, link = '', width, height] = /^(\S+&m=w_(\d+),h_(\d+),c_fill,f_auto) \2w$/.exec(candidate) ?? []
    assertUnderstood(link)
    assert.equal(Number(height), Math.round(Number(width) * 0.75))
  }
})
