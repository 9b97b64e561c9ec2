import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_NAMES, parsePasted } from './pasted-names.ts'

test('names are read from lines, separators, quotes and addresses, each once', () => {
  const text = 'casa.cl\nPERRO, gato;"ñandú.cl"\thttps://www.sol.cl/contacto?a=b www.cl xn--and-6ma2c.cl casa'
  assert.deepEqual(parsePasted(text), {
    names: ['casa', 'perro', 'gato', 'ñandú', 'sol', 'www'],
    invalid: [],
    repeated: 2,
    isTooLong: false,
  })
})

test('invalid names are reported with the reason', () => {
  assert.deepEqual(parsePasted('casa.com -a- ho_la'), {
    names: [],
    invalid: [
      { text: 'casa.com', reason: 'import.reason.suffix' },
      { text: '-a-', reason: 'import.reason.hyphen' },
      { text: 'ho_la', reason: 'import.reason.letters' },
    ],
    repeated: 0,
    isTooLong: false,
  })
})

test('a text with too many names is cut, and reported as cut', () => {
  const names = Array.from({ length: MAX_NAMES + 1 }, (_, i) => `n${i}`)
  assert.equal(parsePasted(names.slice(0, MAX_NAMES).join(' ')).isTooLong, false)
  const { names: read, isTooLong } = parsePasted(names.join(' '))
  assert.deepEqual([read, isTooLong], [names.slice(0, MAX_NAMES), true])
})
