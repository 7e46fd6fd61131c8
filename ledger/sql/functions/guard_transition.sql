-- guard_transition: a state moves only along a row of allowed_transitions.
-- The machine is the table's name, the column is the trigger's argument. A move nobody allowed
-- raises: operations check before they write, so only a bug or a hand reaches this.
CREATE OR REPLACE FUNCTION ledger.guard_transition()
RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_from text;
    v_to text;
BEGIN
    IF TG_ARGV[0] = 'status' THEN
        v_from := OLD.status;
        v_to := NEW.status;
    ELSE
        v_from := OLD.state;
        v_to := NEW.state;
    END IF;
    IF v_from IS DISTINCT FROM v_to AND NOT EXISTS (
        SELECT 1 FROM public.allowed_transitions t
        WHERE t.machine = TG_TABLE_NAME AND t.from_state = v_from AND t.to_state = v_to) THEN
        RAISE EXCEPTION '%: % -> % is no allowed transition', TG_TABLE_NAME, v_from, v_to
            USING ERRCODE = 'LG409';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION ledger.guard_transition() IS
    'a state moves only along a row of allowed_transitions';
