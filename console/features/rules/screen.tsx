import { useApi } from '../../api/query-client.ts'
import { usePermissions } from '../../api/scope.ts'
import { navigate, useRoute, withParameters } from '../../base/router.ts'
import { useStore } from '../../base/store.ts'
import { Button, Link, Tag } from '../../design/elements.tsx'
import { Notice, QueryResult } from '../../design/notice.tsx'
import { language, t } from '../../i18n/index.ts'
import '../../i18n/texts/rules.ts'
import { toFilters, formatWords, queryOf, recordFilters } from '../filters/filters.ts'
import { pauseRule, removeRule, RULES_KEY, type Rule } from './rule.ts'
import { RuleForm } from './rule-form.tsx'
import '../watches/watches.css'

/** The rules by which the group hides and tags records. */
export default function RulesScreen() {
  const { query } = useRoute()
  const isLocked = !usePermissions()('writeDomains')
  const rules = useApi(RULES_KEY, 'GET /api/v1/domainwatch/rules', { select: ({ data }) => data })
  // Open dialogs are in the URL, so that the back button closes them.
  const editing = rules.data?.find(({ id }) => id === query.get('editar'))
  const isNew = query.has('nueva')
  const close = () => navigate('reglas')
  return (
    <div className="page">
      <header>
        <h1 className="grow">{t('nav.rules')}</h1>
        <Button
          look="primary"
          icon="plus"
          label={t('rule.new')}
          disabled={isLocked}
          onClick={() => navigate('reglas', withParameters(query, { nueva: 'hide' }))}
        />
      </header>
      <p className="muted">{t('rule.explained')}</p>
      <QueryResult of={rules}>
        {(data) =>
          data.length === 0 ? (
            <Notice icon="filter" title={t('rule.none')} text={t('rule.noneText')} />
          ) : (
            <ul className="watches">
              {data.map((rule) => (
                <RuleItem key={rule.id} rule={rule} isLocked={isLocked} />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {isNew && !isLocked && (
        <RuleForm
          filters={recordFilters(toFilters(query))}
          action={query.get('nueva') === 'tag' ? 'tag' : 'hide'}
          onClose={close}
        />
      )}
      {editing !== undefined && !isLocked && <RuleForm key={editing.id} rule={editing} onClose={close} />}
    </div>
  )
}

function RuleItem({ rule, isLocked }: { rule: Rule; isLocked: boolean }) {
  const { id, name, action, tag, filters, paused, owner } = rule
  const spoken = useStore(language)
  const named = <span className="visually-hidden"> {name}</span>
  return (
    <li className="watch stack" aria-label={name}>
      <div className="row">
        <h2>{name}</h2>
        {paused === 1 && <Tag icon="clock" look="review" label={t('app.isPaused')} />}
        <div className="row watch-actions">
          <Button disabled={isLocked} onClick={() => pauseRule(rule)}>
            {t(paused === 1 ? 'app.resume' : 'app.pause')}
            {named}
          </Button>
          <Button disabled={isLocked} onClick={() => navigate('reglas', new URLSearchParams({ editar: id }))}>
            {t('app.edit')}
            {named}
          </Button>
          <Button disabled={isLocked} onClick={() => removeRule(rule)}>
            {t('rule.remove')}
            {named}
          </Button>
        </div>
      </div>
      <p>
        {action === 'hide' ? t('rule.hides') : t('rule.tags', { tag: tag ?? '' })}{' '}
        <Link to="dominios" query={queryOf(filters)} className="mono">
          {formatWords(filters, spoken)}
        </Link>
      </p>
      <p className="muted">{t('rule.by', { account: owner })}</p>
    </li>
  )
}
