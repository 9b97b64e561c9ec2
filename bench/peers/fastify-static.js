// Serves the files of a folder with @fastify/static.
import fastify from 'fastify'
import files from '@fastify/static'

const app = fastify()
await app.register(files, { root: process.argv[2] })
console.log(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}`)
