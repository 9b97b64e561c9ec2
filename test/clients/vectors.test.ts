/** The vectors that test all clients are what the service itself computes and accepts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signedHeaders } from '../../src/deliveries/webhook.ts'
import { signedLink, parseLink, readLink, toLinkId } from '../../src/imagestore/links/link.ts'
import {
  canonical,
  defaultPresets,
  FIELDS,
  modifiers,
  parseModifiers,
  type Grammar,
} from '../../src/imagestore/modifiers/index.ts'
import { VECTORS } from '../support/clients.ts'

/** A stored format that no link asks for. */
const STORED = 'tif'

function grammarWith(presets: Readonly<Record<string, string>> = {}): Grammar {
  const watermarks = new Set(['logo'])
  const own = Object.entries(presets).map(([name, text]) => {
    const parsed = parseModifiers(text)
    assert.ok(parsed.ok)
    return [name, parsed.changes] as const
  })
  return { presets: new Map([...defaultPresets, ...own]), watermarks }
}

/** Reads a link as the route of public links does. */
function read(link: string, presets?: Readonly<Record<string, string>>) {
  const target = readLink(link.slice(link.lastIndexOf('/i/') + '/i/'.length))
  const parsed = target && parseLink(target, STORED, grammarWith(presets))
  return target !== undefined && parsed?.ok === true ? { image: target.image, parsed } : undefined
}

function accepted(link: string, presets?: Readonly<Record<string, string>>) {
  const found = read(link, presets)
  assert.ok(found, link)
  return found
}

/** The service's own signature of a link that may be signed already. */
function signedByService(
  link: string,
  expires: number | undefined,
  presets?: Readonly<Record<string, string>>,
) {
  const { image, parsed } = accepted(link.includes('/i/') ? link : `/i/${link}`, presets)
  const until = expires ?? parsed.expires
  return signedLink(VECTORS.secret, image, parsed.transformation, until)
}

test('the clients know all modifiers in canonical order', () => {
  assert.deepEqual(
    VECTORS.modifiers,
    FIELDS.map((field) => modifiers[field].key),
  )
})

test('aliases are encoded as in signatures of the service', () => {
  for (const { account, name, alias } of VECTORS.aliases) {
    assert.equal(toLinkId({ account, name }), alias)
    assert.deepEqual(readLink(alias)?.image, { account, name })
  }
})

test('the service understands every link, and what it asks for', () => {
  for (const { url, modifiers: wanted } of VECTORS.urls) {
    const { parsed } = accepted(url)
    if (typeof wanted !== 'string') continue
    const expected = parseModifiers(wanted)
    assert.ok(expected.ok)
    assert.equal(canonical(parsed.transformation), canonical(expected.transformation), url)
  }
  for (const { srcset, widths } of VECTORS.srcsets) {
    const links = srcset.split(', ').map((candidate) => candidate.split(' '))
    assert.deepEqual(
      links.map(([link = '', width]) => [accepted(link).parsed.transformation.width, width]),
      widths.map((width) => [width, `${width}w`]),
    )
  }
})

test('the signatures are those of the service', () => {
  for (const { link, expires, presets, signed } of VECTORS.signatures)
    assert.equal(
      signed.slice(-signedByService(link, expires, presets).length),
      signedByService(link, expires, presets),
    )
  for (const { srcset, expires, signed } of VECTORS.srcsets) {
    const expected = srcset.split(', ').map((candidate) => {
      const [link = '', width = ''] = candidate.split(' ')
      return `${link.slice(0, link.lastIndexOf('/i/') + 3)}${signedByService(link, expires)} ${width}`
    })
    assert.equal(signed, expected.join(', '))
  }
})

test('the service understands no refused link', () => {
  for (const link of VECTORS.refused) assert.equal(read(link), undefined, link)
})

test('the valid webhooks are those that the service signs', () => {
  for (const { name, valid, now, headers, body } of VECTORS.webhooks) {
    const [id, at] = [headers['webhook-id'] ?? '', Number(headers['webhook-timestamp'])]
    const { 'webhook-signature': expected } = signedHeaders([VECTORS.webhookSecret], id, at, body)
    const signatures = headers['webhook-signature']?.split(' ') ?? []
    assert.equal(signatures.includes(expected) && Math.abs(now - at) <= 300, valid, name)
  }
})
