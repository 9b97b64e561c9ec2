import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { send } from '../support/http.ts'
import { startNode } from '../support/node-process.ts'
import { startService } from '../support/service.ts'
import { watch, WATCHES } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const toPath = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
const receiverWith = async (name: string) => WebhookReceiver.start(await readFile(toPath(name)))

test('webhooks are sent only to servers with a certificate of a known authority', async () => {
  await using service = await startService()
  // Needs a process of its own, without a load balancer.
  assert.ok(service.app)
  using signed = await receiverWith('loopback')
  using self = await receiverWith('self-signed')
  using other = await receiverWith('elsewhere')

  /** The outcome of a test to each, from a node with the certificate authorities of an environment. */
  async function outcomes(environment: Record<string, string>) {
    const node = await startNode({
      flags: {
        port: '0',
        data: service.data,
        'database-url': service.databaseUrl || undefined,
        'webhook-networks': '127.0.0.0/8',
      },
      environment,
    })
    const target = { url: node.url, domainKey: service.domainKey }
    try {
      const results = []
      for (const { url } of [signed, self, other]) {
        const { id } = await watch(target, { url })
        const query = { api: service.domainKey }
        const { body } = await send(target, `${WATCHES}/test`, { id }, { query })
        results.push([Object(body).delivered, Object(body).error])
      }
      return results
    } finally {
      await node.stop()
    }
  }

  const refused = (code: string) => [0, `No se pudo conectar con el receptor (${code})`]
  assert.deepEqual(await outcomes({}), [
    refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    refused('DEPTH_ZERO_SELF_SIGNED_CERT'),
    refused('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  ])
  const arrived = () => [signed, self, other].map(({ received }) => received.length)
  assert.deepEqual(arrived(), [0, 0, 0])
  assert.deepEqual(await outcomes({ NODE_EXTRA_CA_CERTS: toPath('authority') }), [
    [1, null],
    refused('DEPTH_ZERO_SELF_SIGNED_CERT'),
    refused('ERR_TLS_CERT_ALTNAME_INVALID'),
  ])
  assert.deepEqual(arrived(), [1, 0, 0])
})
