"""The `mysql-cdc` connector: tables of MySQL or MariaDB as a changelog source."""
