import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linksOf } from './links.ts'

const link = (modifier: string) => `https://x.cl/i/abc${modifier === '' ? '' : `&m=${modifier}`}`

test('each target gets its own quoting', () => {
  const links = linksOf({ name: '"><b>[x](y)\n*z*.png', width: 1_000, height: 500 }, link)
  assert.equal(links.url, 'https://x.cl/i/abc')
  assert.equal(
    links.html,
    '<img src="https://x.cl/i/abc" srcset="https://x.cl/i/abc&amp;m=w_320 320w, https://x.cl/i/abc&amp;m=w_640 640w, ' +
      'https://x.cl/i/abc 1000w" sizes="100vw" width="1000" height="500" alt="&quot;&gt;&lt;b&gt;[x](y)\n*z*" loading="lazy">',
  )
  assert.equal(links.markdown, '!["\\>\\<b\\>\\[x\\]\\(y\\) \\*z\\*](<https://x.cl/i/abc>)')
  assert.equal(links.bbcode, '[img]https://x.cl/i/abc[/img]')
})

test('with a modifier there is one address, and a small image has no other widths', () => {
  const links = linksOf({ name: 'a.png', width: 4_000, height: 10 }, link, 'w_10,f_webp')
  assert.equal(links.html, '<img src="https://x.cl/i/abc&amp;m=w_10,f_webp" alt="a" loading="lazy">')
  assert.doesNotMatch(linksOf({ name: 'a.png', width: 300, height: 10 }, link).html, /srcset/)
})
