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
      { text: 'casa.com', reason: 'add.reason.suffix' },
      { text: '-a-', reason: 'add.reason.hyphen' },
      { text: 'ho_la', reason: 'add.reason.letters' },
    ],
    repeated: 0,
    isTooLong: false,
  })
})

test('dates and times of a pasted table are not names', () => {
  const { names, invalid } = parsePasted(
    '\ufeffCASA.cl\t31/12/2025 10:00:00\r\nluna.cl;2025-12-31;10:30\r\nmar.cl 1-2-2025 2025-12-31T10:30:00Z\r\n2025-12-31.cl 24-7',
  )
  assert.deepEqual(names, ['casa', 'luna', 'mar', '2025-12-31', '24-7'])
  assert.deepEqual(invalid, [])
  // As the table of the console shows them.
  const copied = parsePasted(
    'sol.cl\tComprado\t31 dic 2025, 22:17\nmar.cl 27 nov, 21:36\nluna 3 Sept 2025\n22 nov',
  )
  assert.deepEqual(copied.names, ['sol', 'comprado', 'mar', 'luna', '22', 'nov'])
})

test('a text with too many names is cut, and reported as cut', () => {
  const names = Array.from({ length: MAX_NAMES + 1 }, (_, i) => `n${i}`)
  assert.equal(parsePasted(names.slice(0, MAX_NAMES).join(' ')).isTooLong, false)
  const { names: read, isTooLong } = parsePasted(names.join(' '))
  assert.deepEqual([read, isTooLong], [names.slice(0, MAX_NAMES), true])
})
