// Responds with a constant of the given size: the overhead of the framework alone.
import fastify from 'fastify'

const app = fastify()
const text = 'x'.repeat(Math.max(0, Number(process.argv[2]) - '{"status":200,"text":""}'.length))
const schema = { type: 'object', properties: { status: { type: 'integer' }, text: { type: 'string' } } }
app.get('/', { schema: { response: { 200: schema } } }, async () => ({ status: 200, text }))
console.log(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}`)
