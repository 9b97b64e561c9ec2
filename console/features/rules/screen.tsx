import { useApi, queryClient } from '../../api/query-client.ts'
import { usePermissions } from '../../api/scope.ts'
import { navigate, useRoute, withParameters } from '../../base/router.ts'
import { useStore, useDebounced } from '../../base/store.ts'
import { Button, Link, Tag } from '../../design/elements.tsx'
import { Page } from '../../design/page.tsx'
import { Notice, QueryResult } from '../../design/notice.tsx'
import { language, t, count } from '../../i18n/index.ts'
import {
  toFilters,
  formatWords,
  queryOf,
  recordFilters,
  parseWords,
  ruleFilters,
  type Filters,
} from '../filters/filters.ts'
import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { MAX_FILTER_CHARACTERS, MAX_TAG_CHARACTERS, MAX_WATCH_NAME_CHARACTERS } from '../../base/constants.ts'
import { FormDialog } from '../../design/dialog.tsx'
import { SelectField, TextField } from '../../design/field.tsx'
import { showToast } from '../../design/toasts.tsx'
import { DomainName } from '../domains/tags.tsx'
import { takenError } from '../filters/filter-errors.ts'
import { unsentForms } from '../work/forms.tsx'
import type { Rule } from '../../../clients/js/schema.ts'
import { runOperation, toOperation, type OperationSpec } from '../work/operations.ts'
import '../../i18n/texts/rules.ts'
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
    <Page
      title={t('nav.rules')}
      tools={
        <Button
          look="primary"
          icon="plus"
          label={t('rule.new')}
          disabled={isLocked}
          onClick={() => navigate('reglas', withParameters(query, { nueva: 'hide' }))}
        />
      }
      explained={t('rule.explained')}
    >
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
    </Page>
  )
}

function RuleItem({ rule, isLocked }: { rule: Rule; isLocked: boolean }) {
  const { id, name, action, tag, filters, paused, owner } = rule
  const spoken = useStore(language)
  return (
    <li className="watch stack" aria-label={name}>
      <div className="row">
        <h2>{name}</h2>
        {paused === 1 && <Tag icon="clock" look="review" label={t('app.isPaused')} />}
        <div className="row watch-actions">
          <Button
            label={t(paused === 1 ? 'app.resume' : 'app.pause')}
            about={name}
            disabled={isLocked}
            onClick={() => pauseRule(rule)}
          />
          <Button
            label={t('app.edit')}
            about={name}
            disabled={isLocked}
            onClick={() => navigate('reglas', new URLSearchParams({ editar: id }))}
          />
          <Button
            label={t('rule.remove')}
            about={name}
            disabled={isLocked}
            onClick={() => removeRule(rule)}
          />
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

interface Fields {
  /** Filters in the syntax of the search box. */
  readonly words: string
  readonly name: string
  readonly action: Action
  readonly tag: string
}

const useFields = unsentForms<Fields>()
const ACTIONS: readonly Action[] = ['hide', 'tag']
const TYPED_MS = 300

interface Props {
  /** The rule to edit; a new one unless given. */
  readonly rule?: Rule
  readonly filters?: Filters
  readonly action?: Action
  readonly onClose: () => void
}

/** The form of a new or existing rule, with what it would do. */
function RuleForm({ rule, filters = rule?.filters ?? {}, action = 'hide', onClose }: Props) {
  const spoken = useStore(language)
  const words = formatWords(ruleFilters(filters), spoken)
  const initial: Fields = {
    words,
    name: rule?.name ?? words.slice(0, MAX_WATCH_NAME_CHARACTERS),
    action: rule?.action ?? action,
    tag: rule?.tag ?? '',
  }
  const { fields, bind, ...form } = useFields(rule?.id ?? `new ${action} ${words}`, initial)

  async function send() {
    const { name } = fields
    const query = { ...toQuery(fields), name }
    if (rule === undefined) await callApi('POST /api/v1/domainwatch/rules', { query })
    else await callApi('POST /api/v1/domainwatch/rules/update', { query: { ...query, id: rule.id } })
    showToast(t('rule.saved', { name }))
    void queryClient.invalidateQueries({ queryKey: ['domains'] })
  }

  return (
    <FormDialog
      title={rule === undefined ? t('rule.new') : t('app.editTitle', { name: rule.name })}
      action={t(rule === undefined ? 'app.create' : 'app.save')}
      form={form}
      shownBy="rules"
      onSend={send}
      onClose={onClose}
    >
      <SelectField
        label={t('rule.action')}
        {...bind('action')}
        options={ACTIONS}
        textOf={(one) => t(`rule.action.${one}`)}
      />
      {fields.action === 'tag' && (
        <TextField label={t('filter.tag')} {...bind('tag')} required maxLength={MAX_TAG_CHARACTERS} />
      )}
      <TextField
        label={t('filter.title')}
        hint={t('rule.filtersHint')}
        {...bind('words')}
        required
        isMono
        maxLength={MAX_FILTER_CHARACTERS}
        autoCapitalize="none"
        spellCheck={false}
      />
      <TextField label={t('rule.name')} {...bind('name')} required maxLength={MAX_WATCH_NAME_CHARACTERS} />
      <Preview fields={fields} />
    </FormDialog>
  )
}

/**
 * The filters and the action as the API takes them. The tag of a rule that tags has the name of a filter.
 * @throws if rules do not take one of the filters
 */
function toQuery({ words, action, tag }: Fields) {
  const filters = ruleFilters(parseWords(words))
  const fault = toFault(words)
  if (fault !== undefined) throw new Error(fault)
  return { ...filters, action, ...(action === 'tag' && { tag: tag.trim() }) }
}

function toFault(words: string): string | undefined {
  const given = parseWords(words)
  return takenError(given, ruleFilters(given))
}

/** What the rule would do now. Keeps its place while it is counted. */
function Preview({ fields }: { fields: Fields }) {
  const settled = useDebounced(fields.words, TYPED_MS)
  const fault = toFault(settled ?? '')
  const preview = useQuery({
    queryKey: ['domains', 'rule', fields.action, settled],
    enabled: Object.keys(parseWords(settled ?? '')).length > 0 && fault === undefined,
    queryFn: async ({ signal }) => {
      const query = toQuery({ ...fields, words: settled ?? '' })
      // The tag changes nothing in what matches, and may be empty yet.
      const { tag: _tag, ...untagged } = query
      const wanted = fields.action === 'tag' ? { ...untagged, tag: 'x' } : query
      return (await callApi('POST /api/v1/domainwatch/rules/preview', { query: wanted, signal })).data
    },
  })
  const { data } = preview
  return (
    <div className="stack" aria-live="polite">
      <p>
        {data === undefined
          ? (fault ?? t('rule.toPreview'))
          : t(`rule.would.${fields.action}`, {
              n: count(data.matches),
              recent: count(data.last_30_days),
              review: count(data.in_review),
            })}
      </p>
      {data !== undefined && data.sample.length > 0 && (
        <ul className="muted">
          {data.sample.map(({ name }) => (
            <li key={name}>
              <DomainName name={name} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

export type Action = Rule['action']

const RULES_KEY = ['rules']

/** The parameters that make the rule again. */
const toParameters = ({ name, action, tag, filters }: Rule) => ({
  ...filters,
  name,
  action,
  ...(tag === null ? {} : { tag }),
})

type Change = Pick<Parameters<typeof toOperation>[0], 'subject' | 'pending' | 'done' | 'send' | 'undo'>

const change = (asked: Change): OperationSpec =>
  toOperation({
    ...asked,
    failed: (reason) => t('rule.failed', { reason }),
    shownBy: ['rules', 'domains'],
  })

function pausing({ id, name }: Rule, isPaused: boolean): Change {
  return {
    subject: `rule:${id}`,
    pending: t('rule.saving', { name }),
    done: t(isPaused ? 'rule.pausedNow' : 'rule.resumed', { name }),
    send: () => callApi('POST /api/v1/domainwatch/rules/update', { query: { id, paused: isPaused ? 1 : 0 } }),
  }
}

/** Pauses or resumes a rule. */
function pauseRule(rule: Rule): void {
  const wasPaused = rule.paused === 1
  runOperation(change({ ...pausing(rule, !wasPaused), undo: () => change(pausing(rule, wasPaused)) }))
}

/** Deletes a rule. Undone, it is created again. */
function removeRule(rule: Rule): void {
  const { id, name, paused } = rule
  const subject = `rule:${id}`
  const pending = t('rule.saving', { name })
  const restore = async () => {
    const { data } = await callApi('POST /api/v1/domainwatch/rules', { query: toParameters(rule) })
    if (paused === 1)
      await callApi('POST /api/v1/domainwatch/rules/update', { query: { id: data.id, paused: 1 } })
  }
  runOperation(
    change({
      subject,
      pending,
      done: t('rule.removed', { name }),
      send: () => callApi('DELETE /api/v1/domainwatch/rules', { query: { id } }),
      undo: () => change({ subject, pending, done: t('rule.restored', { name }), send: restore }),
    }),
  )
}
