import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Flight, Flights, type FlightOwner } from './flights.ts'
import type { Answer } from './outcomes.ts'

test('look-ups in flight are found by name, also if thousands share a bucket', () => {
  const owner: FlightOwner<Answer> = { narrow: (answer) => answer, landed: () => undefined }
  const flights = new Flights<Answer>()
  const all = Array.from({ length: 10_000 }, (_, i) => new Flight(`d${i}.cl`, owner))
  for (const flight of all) flights.add(flight)
  assert.equal(flights.size, 10_000)
  for (const flight of all) assert.equal(flights.find(flight.key), flight)
  assert.deepEqual(new Set(flights.all()), new Set(all))

  const gone = all.filter((_, i) => i % 3 === 0)
  for (const flight of gone) flights.delete(flight)
  for (const flight of gone) {
    assert.equal(flights.find(flight.key), undefined)
    assert.equal(flight.next, undefined, 'leads nowhere')
    flights.delete(flight)
  }
  assert.equal(flights.size, 10_000 - gone.length)
  for (const [i, flight] of all.entries()) {
    if (i % 3 !== 0) assert.equal(flights.find(flight.key), flight)
  }
})
