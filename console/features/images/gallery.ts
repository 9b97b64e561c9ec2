import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { callApi } from '../../api/client.ts'

const PAGE_IMAGES = 200

/** The images in the order of the list, as far as the user has scrolled. */
export function useGallery(search: string, isGrouped: boolean) {
  const query = useInfiniteQuery({
    queryKey: ['images', 'list', search, isGrouped],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      callApi('GET /api/v1/imagestore/list', {
        query: {
          limit: PAGE_IMAGES,
          ...(search === '' ? {} : { search }),
          ...(isGrouped ? { group: '' } : {}),
          ...(pageParam === '' ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  })
  const images = useMemo(() => query.data?.pages.flatMap(({ data }) => data.data) ?? [], [query.data])
  return { ...query, images }
}
