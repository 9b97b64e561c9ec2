import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { migrations } from '../../src/storage/database/migrations/index.ts'

/** Hashes of the released migrations. One that changed afterwards would leave databases that ran it as it was. */
const HASHES = [
  { version: 13, sqlite: '6d7cc569e04d7f95', postgres: 'f044492ec5a07614' },
  { version: 14, sqlite: '130e60ef483e9b7a', postgres: 'f0a4069ca2088e3f' },
  { version: 15, sqlite: '1801e1a606225da6', postgres: '626bd05bfa7836b6' },
  { version: 16, sqlite: '0795b47b0e38fada', postgres: 'b509f00ba79743f5' },
  { version: 17, sqlite: '2adb6e5a2f3b8aea', postgres: '75e98517c59edb9a' },
  { version: 18, sqlite: '2ca37ac403d16fde', postgres: 'f7ac0a47aa62c034' },
  { version: 20, sqlite: 'f26c925afd1d4a10', postgres: '06a98fedf27e619a' },
  { version: 21, sqlite: '90101f6b759fb80f', postgres: '6fa6d0a80cb2e8b8' },
  { version: 22, sqlite: '3863f3eca9c22f1f', postgres: '583fd5985f03b92a' },
  { version: 23, sqlite: 'ab6a2329112e153e', postgres: 'a544d41cffd33573' },
  { version: 24, sqlite: 'dd33e43d21e3d2a9', postgres: 'df8ba7cd9c9607e5' },
  { version: 25, sqlite: '5e5b027bf74d1ae7', postgres: 'b5d33c8185fe5876' },
  { version: 26, sqlite: '24a1940055bb813d', postgres: '951fcb25376647c3' },
  { version: 27, sqlite: '084f133c9e2f2866', postgres: '6a6bc00f56c2e15c' },
  { version: 28, sqlite: 'e2bcf87382fbd771', postgres: '0049eb0085354376' },
  { version: 29, sqlite: '1503edbad161973e', postgres: 'f0a13b727358206d' },
  { version: 31, sqlite: 'b33712dea03cf65c', postgres: '66aa40c6e3858636' },
  { version: 32, sqlite: '1af00ab4872b5207', postgres: 'ff79266ce0e4ab91' },
  { version: 33, sqlite: '5334a1c9df075c8b', postgres: '7820c7e8736dbae9' },
  { version: 34, sqlite: 'd4498a70a3f0076c', postgres: '839053e5e988d7e2' },
  { version: 35, sqlite: '03a241b4a5c63c6c', postgres: '10d6bbbdd49fcedc' },
  { version: 36, sqlite: 'addf0b06fb4e132e', postgres: 'acc0e21b17bb5941' },
  { version: 37, sqlite: '9823439276a2b3e0', postgres: 'b73118ff52ab1dbf' },
  { version: 38, sqlite: '2ae3ec572e3ef072', postgres: '986f90d978617038' },
  { version: 39, sqlite: '15669f21467a5276', postgres: '6e67ee68a080cafa' },
  { version: 40, sqlite: 'ce7dc73062823b14', postgres: 'de817e02c8c4e26e' },
  { version: 41, sqlite: '7030634b08cd04ea', postgres: 'ea9293e8caeae749' },
  { version: 42, sqlite: '07ddba612185de06', postgres: 'b53f909e6f7a62ae' },
  { version: 43, sqlite: '006625c6a85a4d94', postgres: 'a2c9e56a0e436a0d' },
  { version: 44, sqlite: '4ea6f4b9c21bcb05', postgres: 'd4588a4024934b16' },
  { version: 45, sqlite: '43114f5f9ed7e3aa', postgres: '295268e4c9fbf0b5' },
]

test('no released migration has changed', () => {
  const hashes = migrations.map(({ version, sqlite, postgres }) => ({
    version,
    sqlite: hash('sha256', sqlite).slice(0, 16),
    postgres: hash('sha256', postgres).slice(0, 16),
  }))
  assert.deepEqual(
    hashes.slice(0, HASHES.length),
    HASHES,
    'a released migration was edited: add a migration instead',
  )
  assert.equal(migrations.length, HASHES.length, `add the new one's: ${JSON.stringify(hashes.at(-1))}`)
})
