import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi } from '../../api/client.ts'
import { useApi } from '../../api/query-client.ts'
import type { Operations } from '../../api/schema.ts'
import { TRASH_DAYS } from '../../base/constants.ts'
import { serverNow, SERVICE_URL } from '../../base/server.ts'
import { toListParameters } from './filter-menu.tsx'
import { DAYS } from './upload-days.ts'

const PAGE_IMAGES = 200

/** The images that the address of the gallery selects, in its order, as far as the user has scrolled. */
export function useGallery(address: URLSearchParams) {
  const parameters = toListParameters(address)
  const query = useInfiniteQuery({
    queryKey: ['images', 'list', parameters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      callApi('GET /api/v1/imagestore/list', {
        query: { ...parameters, limit: PAGE_IMAGES, cursor: pageParam || undefined },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  const images = useMemo(() => query.data?.pages.flatMap(({ data }) => data.data) ?? [], [query.data])
  return { ...query, images, total: query.data?.pages[0]?.data.total }
}

export type ImageRecord = Operations['GET /api/v1/imagestore/list']['answer']['data'][number]

/** Returns the public URL of an image, with a modifier if given. */
export function linkOf(hash: string, modifier = ''): string {
  return new URL(`i/${hash}${modifier === '' ? '' : `&m=${modifier}`}`, SERVICE_URL).href
}

/** Heights of thumbnails: few, so that few derivatives are made. */
const STEPS = [160, 320, 480] as const

/** Returns a thumbnail for this height on this screen. */
export function thumbOf({ hash }: ImageRecord, height: number): string {
  const wanted = height * Math.min(2, devicePixelRatio)
  const step = STEPS.find((one) => one >= wanted) ?? STEPS[2]
  // The maximum aspect ratio shown is 2:1.
  return linkOf(hash, `w_${step * 2},h_${step},f_webp`)
}

/** The days until an image of the trash is deleted. @param trashedAt seconds since 1970 */
export const trashDaysLeft = (trashedAt: number): number =>
  Math.max(0, Math.ceil(TRASH_DAYS - (serverNow() / 1_000 - trashedAt) / 86_400))

export type ImageStats = Operations['GET /api/v1/imagestore/stats']['answer']

/** The usage of the application. */
export function useUsage() {
  return useApi(['images', 'stats'], 'GET /api/v1/imagestore/stats', { query: { days: DAYS } })
}
