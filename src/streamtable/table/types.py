"""PyFlink's `DataTypes`: each call returns the type as a text of Flink SQL."""

from __future__ import annotations


class TypeText(str):
    """A type as a text of Flink SQL.

    >>> DataTypes.DECIMAL(10, 2).not_null()
    'DECIMAL(10, 2) NOT NULL'
    """

    __slots__ = ()

    def not_null(self) -> TypeText:
        """Return the type without NULL."""
        return TypeText(f"{self} NOT NULL")

    def nullable(self) -> TypeText:
        """Return the type with NULL."""
        return TypeText(self.removesuffix(" NOT NULL"))


class DataTypes:
    """Types by PyFlink's names.

    >>> DataTypes.ARRAY(DataTypes.STRING())
    'ARRAY<STRING>'
    """

    @staticmethod
    def BOOLEAN() -> TypeText:  # noqa: N802 - PyFlink's name, as all below
        """BOOLEAN."""
        return TypeText("BOOLEAN")

    @staticmethod
    def TINYINT() -> TypeText:  # noqa: N802
        """TINYINT."""
        return TypeText("TINYINT")

    @staticmethod
    def SMALLINT() -> TypeText:  # noqa: N802
        """SMALLINT."""
        return TypeText("SMALLINT")

    @staticmethod
    def INT() -> TypeText:  # noqa: N802
        """INT."""
        return TypeText("INT")

    @staticmethod
    def BIGINT() -> TypeText:  # noqa: N802
        """BIGINT."""
        return TypeText("BIGINT")

    @staticmethod
    def FLOAT() -> TypeText:  # noqa: N802
        """FLOAT."""
        return TypeText("FLOAT")

    @staticmethod
    def DOUBLE() -> TypeText:  # noqa: N802
        """DOUBLE."""
        return TypeText("DOUBLE")

    @staticmethod
    def DECIMAL(precision: int, scale: int) -> TypeText:  # noqa: N802
        """Return DECIMAL with precision, scale."""
        return TypeText(f"DECIMAL({precision}, {scale})")

    @staticmethod
    def CHAR(length: int) -> TypeText:  # noqa: N802
        """Return CHAR with length."""
        return TypeText(f"CHAR({length})")

    @staticmethod
    def VARCHAR(length: int) -> TypeText:  # noqa: N802
        """Return VARCHAR with length."""
        return TypeText(f"VARCHAR({length})")

    @staticmethod
    def STRING() -> TypeText:  # noqa: N802
        """STRING."""
        return TypeText("STRING")

    @staticmethod
    def BYTES() -> TypeText:  # noqa: N802
        """BYTES."""
        return TypeText("BYTES")

    @staticmethod
    def DATE() -> TypeText:  # noqa: N802
        """DATE."""
        return TypeText("DATE")

    @staticmethod
    def TIME(precision: int = 0) -> TypeText:  # noqa: N802
        """Return TIME with precision."""
        return TypeText(f"TIME({precision})")

    @staticmethod
    def TIMESTAMP(precision: int = 6) -> TypeText:  # noqa: N802
        """Return TIMESTAMP with precision."""
        return TypeText(f"TIMESTAMP({precision})")

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6) -> TypeText:  # noqa: N802
        """Return TIMESTAMP_LTZ with precision."""
        return TypeText(f"TIMESTAMP_LTZ({precision})")

    @staticmethod
    def ARRAY(element: str) -> TypeText:  # noqa: N802
        """ARRAY of a type."""
        return TypeText(f"ARRAY<{element}>")

    @staticmethod
    def MAP(key: str, value: str) -> TypeText:  # noqa: N802
        """MAP of two types."""
        return TypeText(f"MAP<{key}, {value}>")

    @staticmethod
    def LIST_VIEW(element: str) -> TypeText:  # noqa: N802
        """ARRAY of a type, for a `ListView` in an accumulator."""
        return DataTypes.ARRAY(element)

    @staticmethod
    def MAP_VIEW(key: str, value: str) -> TypeText:  # noqa: N802
        """MAP of two types, for a `MapView` in an accumulator."""
        return DataTypes.MAP(key, value)

    @staticmethod
    def ROW(fields: list[tuple[str, str]]) -> TypeText:  # noqa: N802
        """ROW of fields, each with name and type."""
        return TypeText(f"ROW<{', '.join(f'`{name}` {kind}' for name, kind in fields)}>")

    @staticmethod
    def FIELD(name: str, data_type: str) -> tuple[str, str]:  # noqa: N802
        """Return a field of a ROW."""
        return name, data_type
