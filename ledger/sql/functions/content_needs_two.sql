-- content_needs_two: whether sending this content takes a second person: for money and sensitive fields.
-- The amount of either is at or over policy four_eyes_amount or cannot be read; or a member changes
-- that is named like a field marked sensitive of a target the workflow writes. Without old content
-- nothing was changed: only the amount counts.
CREATE OR REPLACE FUNCTION ledger.content_needs_two(
    p_effect text, p_workflow text, p_old jsonb, p_new jsonb
)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_path text := (SELECT e.amount_path FROM public.effects e WHERE e.name = p_effect);
    v_limit numeric := (ledger.policy('four_eyes_amount') #>> '{}')::numeric;
    v_content jsonb;
    v_amount text;
BEGIN
    FOREACH v_content IN ARRAY CASE WHEN p_old IS NULL THEN ARRAY[p_new]
        ELSE ARRAY[p_old, p_new] END LOOP
        v_amount := v_content #>> string_to_array(v_path, '.');
        IF v_path IS NOT NULL AND (v_amount IS NULL
            OR v_amount !~ '^-?[0-9]{1,15}(\.[0-9]{1,10})?$'
            OR abs(v_amount::numeric) >= v_limit) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN p_old IS NOT NULL AND EXISTS (
        SELECT 1 FROM public.field_ownership o
        WHERE o.workflow = p_workflow AND o.sensitive
            AND jsonb_path_query_array(p_old, ('$.**.' || to_jsonb(o.field)::text)::jsonpath)
                <> jsonb_path_query_array(p_new, ('$.**.' || to_jsonb(o.field)::text)::jsonpath));
END
$$;
COMMENT ON FUNCTION ledger.content_needs_two(text, text, jsonb, jsonb) IS
    'whether sending this content takes a second person: for money and sensitive fields';
