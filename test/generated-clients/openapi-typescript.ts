/** What an application does with the types of openapi-typescript: it has to compile without a cast. */
import createClient from 'openapi-fetch'
import type { components, paths } from './generated/openapi-typescript.ts'

type Image = components['schemas']['Image']

const baseUrl = 'http://127.0.0.1:8080'
const client = createClient<paths>({ baseUrl })
client.use({
  onRequest({ request }) {
    const url = new URL(request.url)
    url.searchParams.set('api', 'key')
    return new Request(url, request)
  },
})

export async function upload(image: string, ip: string): Promise<string> {
  const { data, error } = await client.POST('/api/v1/imagestore/upload', {
    body: { image, info: { name: 'foto.jpg', mime: 'image/jpeg', ip } },
  })
  if (error !== undefined) throw new Error(`${error.code}: ${error.msg}`)
  const status: 200 = data.status
  return `${data.hash} ${status}`
}

export async function list(): Promise<readonly Image[]> {
  const { data, response } = await client.GET('/api/v1/imagestore/list', {
    params: { query: { mime: 'image/jpeg', order: 'size', limit: 10 } },
  })
  console.log(response.headers.get('Link'))
  return data?.data ?? []
}

export async function remove(hash: string): Promise<boolean> {
  const { error } = await client.DELETE('/api/v1/imagestore/delete', { params: { query: { hash } } })
  return error === undefined || error.code === 'image_not_found'
}

export async function search(text: string): Promise<readonly string[]> {
  const { data } = await client.GET('/api/v1/domainwatch/list', { params: { query: { search: text } } })
  return data?.data.flat().map(({ name }) => name) ?? []
}

// @ts-expect-error An image has a file name.
void client.POST('/api/v1/imagestore/upload', { body: { image: '', info: { mime: 'image/png', ip: '' } } })
// @ts-expect-error A list has no such order.
void client.GET('/api/v1/imagestore/list', { params: { query: { order: 'color' } } })
