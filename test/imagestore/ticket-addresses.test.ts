import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerOf, gradient, ImageClient } from '../support/images.ts'
import { startService } from '../support/service.ts'

test('the address of a ticket works below the path of the base URL', async () => {
  await using service = await startService({ flags: { 'base-url': 'https://fotos.ejemplo.cl/img' } })
  const { port } = new URL(service.app.server.listeningOrigin)
  const local = `http://127.0.0.1:${port}`
  const client = new ImageClient(`${local}/img`, service.imageKey)
  const minted = await answerOf(await fetch(client.endpoint('tickets'), { method: 'POST' }))
  const url = String(minted.body['url'])
  assert.match(url, /^https:\/\/fotos\.ejemplo\.cl\/img\/u\/[\w-]{32}$/)
  const sent = await fetch(url.replace('https://fotos.ejemplo.cl', local), {
    method: 'POST',
    headers: { 'content-type': 'image/png' },
    body: new Uint8Array(await gradient(9, 9).png().toBuffer()),
  })
  const { status, body } = await answerOf(sent)
  assert.equal(status, 200)
  assert.match(String(body['link']), /^https:\/\/fotos\.ejemplo\.cl\/img\/i\/[a-z2-7]{32}$/)
})
