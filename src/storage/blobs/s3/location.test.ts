import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseS3Location } from './location.ts'

const AMAZON = {
  prefix: '',
  endpoint: undefined,
  publicEndpoint: undefined,
  redirectBytes: Infinity,
  region: undefined,
  pathStyle: false,
}

test('a bucket without endpoint is at Amazon', () => {
  assert.deepEqual(parseS3Location('s3://fotos'), { bucket: 'fotos', ...AMAZON })
  assert.deepEqual(parseS3Location('s3://fotos/'), { bucket: 'fotos', ...AMAZON })
  assert.deepEqual(parseS3Location('s3://fotos?region=sa-east-1'), {
    bucket: 'fotos',
    ...AMAZON,
    region: 'sa-east-1',
  })
})

test('a prefix ends in one slash', () => {
  assert.equal(parseS3Location('s3://fotos/a')?.prefix, 'a/')
  assert.equal(parseS3Location('s3://fotos/a/b/')?.prefix, 'a/b/')
})

test('an endpoint implies path style, unless path_style says otherwise', () => {
  const endpoint = 'https://s3.example.cl:7480'
  assert.deepEqual(parseS3Location(`s3://fotos/a?endpoint=${endpoint}`), {
    bucket: 'fotos',
    prefix: 'a/',
    endpoint,
    publicEndpoint: undefined,
    redirectBytes: Infinity,
    region: undefined,
    pathStyle: true,
  })
  assert.equal(parseS3Location(`s3://fotos?endpoint=${endpoint}&path_style=false`)?.pathStyle, false)
  assert.equal(parseS3Location('s3://fotos?path_style=true')?.pathStyle, true)
  assert.equal(parseS3Location(`s3://fotos?endpoint=${encodeURIComponent(endpoint)}`)?.endpoint, endpoint)
})

test('redirect is a size', () => {
  const getRedirect = (query: string) => parseS3Location(`s3://fotos?${query}`)?.redirectBytes
  assert.deepEqual(
    [getRedirect(''), getRedirect('redirect=1MiB'), getRedirect('redirect=7')],
    [Infinity, 1_048_576, 7],
  )
})

test('public_endpoint is kept', () => {
  const location = parseS3Location(
    's3://fotos?endpoint=http://10.0.0.1:7480&public_endpoint=https://fotos.example.cl',
  )
  assert.equal(location?.endpoint, 'http://10.0.0.1:7480')
  assert.equal(location?.publicEndpoint, 'https://fotos.example.cl')
})

for (const text of [
  's3:',
  's3://',
  's3:///a',
  's3://ab',
  's3://-fotos',
  's3://fotos//a',
  's3://fotos/a//b',
  's3://fotos/../b',
  's3://fotos/á',
  's3://fotos/a b',
  's3://fotos#a',
  's3://user:secret@fotos',
  's3://fotos?endpoint=s3.example.cl',
  's3://fotos?endpoint=ftp://s3.example.cl',
  's3://fotos?endpoint=https://user:secret@s3.example.cl',
  's3://fotos?endpoint=https://s3.example.cl&endpoint=https://b.example.cl',
  's3://fotos?public_endpoint=fotos.example.cl',
  's3://fotos?region=',
  's3://fotos?path_style=yes',
  's3://fotos?redirect=big',
  's3://fotos?pathstyle=true',
  'https://fotos',
  'fotos',
]) {
  test(`${text} is rejected`, () => assert.equal(parseS3Location(text), undefined))
}
