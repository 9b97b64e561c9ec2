import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { t } from '../i18n/index.ts'
import { Button } from './button.tsx'

interface Props {
  readonly of: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
  readonly label?: string
}

/** Loads the next page of a list, if there is one. */
export function MoreButton({ of: list, label = t('app.showMore') }: Props) {
  if (!list.hasNextPage) return null
  return (
    <div className="row">
      <Button
        label={label}
        aria-disabled={list.isFetchingNextPage}
        onClick={() => list.isFetchingNextPage || void list.fetchNextPage()}
      />
    </div>
  )
}
